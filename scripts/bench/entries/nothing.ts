/** An import that uses nothing, which must leave nothing in a bundle. */

import "../../../mod.ts";
