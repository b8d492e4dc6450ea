/** Adds a secret to an authenticator app: a QR code to scan, the secret as text, and a field for the first code of the app. */

import { lazy, Suspense } from 'react';
import { CopyButton } from '../ui/copy.tsx';
import { CodeField } from './code-field.tsx';
import './second-factor.css';

const QrCode = lazy(async () => ({ default: (await import('./qr-code.tsx')).QrCode }));

interface AppSetupProps {
  readonly secret: string;
  readonly uri: string;
  readonly code: string;
  /** Whether the field takes the focus. On a page, it would open the keyboard of a phone over the QR code. */
  readonly hasFocus?: boolean;
  readonly onChange: (code: string) => void;
}

export function AppSetup({ secret, uri, code, hasFocus = false, onChange }: AppSetupProps) {
  return (
    <>
      <p>Scan the QR code with an authenticator app on your phone.</p>
      <Suspense fallback={<div className="qr-code" />}>
        <QrCode text={uri} label="QR code with the secret" />
      </Suspense>
      <div className="app-secret">
        <p className="hint" id="app-secret">
          If you cannot scan it, type this secret into the app, or{' '}
          <a href={uri}>open an app on this device</a>.
        </p>
        <div className="app-secret-text">
          <code aria-labelledby="app-secret">{inGroups(secret)}</code>
          <CopyButton text={secret} label="Copy secret" />
        </div>
      </div>
      <CodeField
        label="Code from the app"
        help="The app now displays a code of 6 digits."
        value={code}
        autoFocus={hasFocus}
        onChange={onChange}
      />
    </>
  );
}

/** Groups of four characters are easier to type. */
function inGroups(secret: string): string {
  return secret.replace(/.{4}(?=.)/g, '$& ');
}
