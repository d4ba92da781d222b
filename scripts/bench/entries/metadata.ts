/** The two metadata documents, without the checks of the strict discovery. */

export {
  fetchAuthorizationServerMetadata,
  fetchResourceMetadata,
} from "../../../mod.ts";
