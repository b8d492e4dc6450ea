/** The second step of a sign-in: a code of an authenticator app, a recovery code, or a passkey. */

import type { Credentials, SecondFactorMethod } from '@espalier/client';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { CodeField } from '../../second-factor/code-field.tsx';
import { client } from '../../session/client.ts';
import { Button } from '../../ui/button.tsx';
import { useCodeForm } from './code-form.ts';
import { PasskeyButton } from './passkey-button.tsx';
import { Problem } from './problem.tsx';

interface CodeStepProps {
  readonly credentials: Credentials;
  /** The second factors of the user. */
  readonly methods: readonly SecondFactorMethod[];
  /** Returns to the password, for example with the problem that the password was changed. */
  readonly onBack: (problem?: unknown) => void;
}

export function CodeStep({ credentials, methods, onBack }: CodeStepProps) {
  const hasApp = methods.includes('TOTP');
  const [isRecovery, setRecovery] = useState(!hasApp);
  return (
    <>
      <h1>Second factor</h1>
      <CodeForm
        key={isRecovery ? 'recovery' : 'app'}
        credentials={credentials}
        isRecovery={isRecovery}
        onBack={onBack}
      />
      {methods.includes('PASSKEY') && <PasskeyButton>Use a passkey</PasskeyButton>}
      {hasApp && methods.includes('RECOVERY_CODE') && (
        <Button tone="quiet" onPress={() => setRecovery(!isRecovery)}>
          {isRecovery ? 'Use a code from the app' : 'Use a recovery code'}
        </Button>
      )}
      <Button tone="quiet" icon="back" onPress={() => onBack()}>
        Back
      </Button>
    </>
  );
}

interface CodeFormProps extends Omit<CodeStepProps, 'methods'> {
  readonly isRecovery: boolean;
}

function CodeForm({ credentials, isRecovery, onBack }: CodeFormProps) {
  const { code, setCode, isPending, problem, submit } = useCodeForm({
    signIn: (code) => client.login({ ...credentials, code }),
    finalError: 'INVALID_CREDENTIALS',
    onBack,
  });
  return (
    <Form className="sign-in-fields" onSubmit={submit}>
      <CodeField
        label={isRecovery ? 'Recovery code' : 'Code'}
        help={
          isRecovery ? 'You can use each recovery code only once.' : 'The 6 digits in your authenticator app.'
        }
        value={code}
        hasLetters={isRecovery}
        onChange={setCode}
        autoFocus
      />
      {problem !== null && <Problem>{problem}</Problem>}
      <Button type="submit" tone="primary" isPending={isPending}>
        Sign in
      </Button>
    </Form>
  );
}
