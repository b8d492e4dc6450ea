/** Fields with which users prove again who they are, before they change their second factor. */

import { useState, type ReactNode } from 'react';
import type { Proof } from '../actions/second-factor-actions.ts';
import { Select, TextField } from '../ui/fields.tsx';
import { CodeField } from './code-field.tsx';
import { askForPasskey, supportsPasskeys } from './passkeys.ts';
import type { SecondFactor } from './second-factor-data.ts';

type ProofKind = 'password' | 'code' | 'passkey';

const labels: Readonly<Record<ProofKind, string>> = {
  password: 'Password',
  code: 'Code',
  passkey: 'Passkey',
};
const recoveryCode = 'Recovery code';

interface ProofForm {
  readonly fields: ReactNode;
  /** Whether the input is complete. */
  readonly isReady: boolean;
  /** Asks for the passkey, if the user has chosen it. */
  readonly read: () => Promise<Proof | undefined>;
}

/** The field takes the focus, unless the dialog has an earlier field. */
export function useProof(secondFactor: SecondFactor, { hasFocus = true } = {}): ProofForm {
  const kinds = listProofKinds(secondFactor);
  const hasApp = secondFactor.totpSince !== null;
  const [kind, setKind] = useState(kinds[0]);
  const [text, setText] = useState('');
  const choose = (next: ProofKind) => {
    setKind(next);
    setText('');
  };
  const read = async (): Promise<Proof | undefined> => {
    if (kind === undefined) return undefined;
    if (kind === 'passkey') return { passkey: await askForPasskey() };
    return kind === 'code' ? { code: text } : { password: text };
  };
  const fields = kind !== undefined && (
    <>
      {kinds.length > 1 && (
        <Select
          label="Confirm with"
          value={kind}
          options={kinds.map((id) => ({ id, label: id === 'code' && !hasApp ? recoveryCode : labels[id] }))}
          onChange={choose}
        />
      )}
      <ProofField
        key={kind}
        kind={kind}
        hasApp={hasApp}
        value={text}
        hasFocus={hasFocus && kind === kinds[0]}
        onChange={setText}
      />
    </>
  );
  return { fields, isReady: kind === undefined || kind === 'passkey' || text !== '', read };
}

/** The most convenient kind is the first. Without an app, the only codes are recovery codes, which users should save. */
function listProofKinds({
  hasPassword,
  isEnrolled,
  totpSince,
  passkeys,
}: SecondFactor): readonly ProofKind[] {
  const password = hasPassword ? (['password'] as const) : [];
  const code = isEnrolled ? (['code'] as const) : [];
  const passkey = passkeys.length > 0 && supportsPasskeys ? (['passkey'] as const) : [];
  return totpSince === null ? [...password, ...passkey, ...code] : [...password, ...code, ...passkey];
}

interface ProofFieldProps {
  readonly kind: ProofKind;
  readonly hasApp: boolean;
  readonly value: string;
  readonly hasFocus: boolean;
  readonly onChange: (text: string) => void;
}

function ProofField({ kind, hasApp, value, hasFocus, onChange }: ProofFieldProps) {
  switch (kind) {
    case 'password':
      return (
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          value={value}
          onChange={onChange}
          autoFocus={hasFocus}
          isRequired
        />
      );
    case 'code':
      return (
        <CodeField
          label={hasApp ? labels.code : recoveryCode}
          help={
            hasApp
              ? 'A code of your authenticator app, or a recovery code.'
              : 'You can use each recovery code only once.'
          }
          hasLetters
          autoFocus={hasFocus}
          value={value}
          onChange={onChange}
        />
      );
    case 'passkey':
      return <p className="hint">Your browser asks for the passkey.</p>;
  }
}
