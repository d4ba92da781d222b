/** Whether the user has closed a popup. Browsers do not report this reliably. */

/** The visible state of a popup at a time in milliseconds. */
export interface PopupView {
  readonly now: number;
  /** `closed` of the popup. */
  readonly isClosed: boolean;
  /** Whether the popup is still at `about:blank`. */
  readonly isBlank: boolean;
  /** Whether the page that opened the popup has the focus. */
  readonly hasFocus: boolean;
}

/** How often to check. */
export const LOOK_MS = 100;

const CERTAIN_MS = 1_000;
const FIRST_PAGE_MS = 500;

/**
 * Returns a function that is called repeatedly with the state of a popup, and returns
 * whether the user has closed it.
 *
 * A page with a `Cross-Origin-Opener-Policy` makes `closed` true although the popup is
 * open (HTML, section 7.1.3). So the focus decides: it is on the page after the user
 * has closed the popup, but not while the user signs in. If the page has had the focus
 * all the time, as in a window next to the popup, `closed` is trusted, unless it became
 * true with the first page of the popup.
 */
export function createClosedCheck(): (view: PopupView) => boolean {
  let hasLostFocus = false;
  let focusedAt: number | undefined;
  let leftBlankAt: number | undefined;
  let closedAt: number | undefined;
  return ({ now, isClosed, isBlank, hasFocus }) => {
    hasLostFocus ||= !hasFocus;
    focusedAt = hasFocus ? focusedAt ?? now : undefined;
    if (isClosed || !isBlank) leftBlankAt ??= now;
    if (!isClosed) return false;
    closedAt ??= now;
    if (focusedAt === undefined) return false;
    const isByFirstPage = closedAt - leftBlankAt! < FIRST_PAGE_MS;
    if (!hasLostFocus && isByFirstPage) return false;
    return now - Math.max(closedAt, focusedAt) >= CERTAIN_MS;
  };
}
