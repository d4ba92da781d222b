/** Detects whether the user closed a popup, which browsers do not report reliably. */

/** The visible state of a popup at a time in milliseconds. */
export interface PopupView {
  readonly now: number;
  readonly isClosed: boolean;
  readonly isBlank: boolean;
  /** Whether the page that opened the popup has focus. */
  readonly hasFocus: boolean;
}

export const LOOK_MS = 100;

const CERTAIN_MS = 1_000;
const FIRST_PAGE_MS = 500;

/**
 * Returns a function that receives a popup's state repeatedly, and returns whether the
 * user closed it.
 *
 * A page with a `Cross-Origin-Opener-Policy` sets `closed` for an open popup (HTML,
 * section 7.1.3). So the focus decides: the opening page gets it after the user closed
 * the popup. If the page always had focus, as with a window next to it, `closed` is
 * trusted, unless the popup's first page set it.
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
