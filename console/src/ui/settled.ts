/** A value once it has stopped changing: what is typed is searched for when the person pauses. */

import { useEffect, useState } from 'react';

export function useSettled<Value>(value: Value, afterMs = 250): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}
