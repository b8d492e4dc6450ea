/** Helpers for text fields: debounced values, and keys that belong to an input method. */

import { useEffect, useState } from 'react';

/** The used part of a React keyboard event. */
interface KeyPress {
  readonly nativeEvent: { readonly isComposing: boolean; readonly keyCode: number };
}

/** Returns whether an input method uses the key to compose characters, so the field must ignore it. */
export function isComposing({ nativeEvent }: KeyPress): boolean {
  // Safari ends the composition before it sends the final Enter. Only key code 229 identifies that key.
  return nativeEvent.isComposing || nativeEvent.keyCode === 229;
}

/** Returns the value once it has not changed for a while. */
export function useDebounced<Value>(value: Value, afterMs = 250): Value {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return debounced;
}
