/** Why a step of the sign-in failed. */

import type { ReactNode } from 'react';

export function Problem({ children }: { children: ReactNode }) {
  return (
    <p className="problem" role="alert">
      {children}
    </p>
  );
}
