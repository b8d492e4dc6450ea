/** The heading of a later step of the sign-in. It takes the focus, because the fields of the step before are gone. */

import { useEffect, useRef } from 'react';

export function StepTitle({ children }: { children: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
