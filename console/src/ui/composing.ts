/** Keys by which an input method composes characters: they are its own, and mean nothing to the field yet. */

/** As much of a keyboard event of React as is needed. */
interface KeyPress {
  readonly nativeEvent: { readonly isComposing: boolean; readonly keyCode: number };
}

export function isComposing({ nativeEvent }: KeyPress): boolean {
  // Safari has ended the composition when it tells of the Enter that ended it; the number is all that is left of it.
  return nativeEvent.isComposing || nativeEvent.keyCode === 229;
}
