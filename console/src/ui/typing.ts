/** Keys by which an input method composes characters: they are its own, and mean nothing to the field yet. */

import { useState, useEffect } from 'react';

/** As much of a keyboard event of React as is needed. */
interface KeyPress {
  readonly nativeEvent: { readonly isComposing: boolean; readonly keyCode: number };
}

export function isComposing({ nativeEvent }: KeyPress): boolean {
  // Safari has ended the composition when it tells of the Enter that ended it; the number is all that is left of it.
  return nativeEvent.isComposing || nativeEvent.keyCode === 229;
}
export function useDebounced<Value>(value: Value, afterMs = 250): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}
