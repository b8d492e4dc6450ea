/** The sign-in form: as a page, or as a dialog over the current page after the session has ended. */

import type { Credentials, EspalierError, SecondFactorMethod } from '@espalier/client';
import { Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { describeProblem } from '../graph/problem.ts';
import { Button } from '../ui/button.tsx';
import { Logo } from '../ui/icons.tsx';
import { Loading } from '../ui/states.tsx';
import { useLoginMethods } from '../session/login-methods.ts';
import { listUnsaved } from '../session/session-data.ts';
import { useSession } from '../session/session.tsx';
import { PasswordForm } from './sign-in/password-form.tsx';
import { Problem } from './sign-in/problem.tsx';
import { describeReturn, SingleSignOnButton } from './sign-in/single-sign-on-button.tsx';

// Loaded on demand, because most users do not need these parts.
const CodeStep = lazy(async () => ({ default: (await import('./sign-in/code-step.tsx')).CodeStep }));
const EnrolmentStep = lazy(async () => ({
  default: (await import('./sign-in/enrolment-step.tsx')).EnrolmentStep,
}));
const PasskeyButton = lazy(async () => ({
  default: (await import('./sign-in/passkey-button.tsx')).PasskeyButton,
}));

/** The error explains why the browser returned without a session from the provider of single sign-on. */
export function SignIn({ error }: { error: unknown }) {
  return (
    <main className="sign-in">
      <SignInForm title="Sign in to Espalier" problem={error === null ? undefined : describeReturn(error)} />
    </main>
  );
}

/** A dialog, because it must also cover other dialogs. */
export function SignInAgain({ username }: { username: string }) {
  const { signOut } = useSession();
  return (
    <ModalOverlay className="above" isOpen isKeyboardDismissDisabled>
      <Modal>
        <Dialog className="sign-in" aria-label="Sign in again">
          <SignInForm
            title="Sign in again"
            notice="Your session has ended. Your work on this page is kept."
            username={username}
            keepsPage
          >
            <Button tone="quiet" onPress={() => void signOut()}>
              {listUnsaved().length > 0 ? 'Leave without saving' : 'Leave this page'}
            </Button>
          </SignInForm>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

interface SignInFormProps {
  readonly title: string;
  readonly notice?: string;
  /** Why an earlier sign-in failed. */
  readonly problem?: string | undefined;
  /** The user whose session ended. */
  readonly username?: string;
  /** Whether the page must not be left. */
  readonly keepsPage?: boolean;
  readonly children?: ReactNode;
}

type Step =
  | {
      readonly kind: 'first';
      readonly username: string | undefined;
      /** Why an earlier sign-in failed. */
      readonly problem: string | undefined;
    }
  | {
      readonly kind: 'code';
      readonly credentials: Credentials;
      readonly methods: readonly SecondFactorMethod[];
    }
  | { readonly kind: 'enrolment'; readonly credentials: Credentials; readonly enrolmentToken: string };

function SignInForm({ title, notice, problem, username, keepsPage = false, children }: SignInFormProps) {
  const [step, setStep] = useState<Step>({ kind: 'first', username, problem });
  const startSecondFactor = (credentials: Credentials, { enrolmentToken, methods = [] }: EspalierError) =>
    setStep(
      enrolmentToken === undefined
        ? { kind: 'code', credentials, methods }
        : { kind: 'enrolment', credentials, enrolmentToken },
    );
  const goBack = (error?: unknown) => {
    if (step.kind === 'first') return;
    const reason = error === undefined ? undefined : describeProblem(error).text;
    setStep({ kind: 'first', username: username ?? step.credentials.username, problem: reason });
  };
  return (
    <div className="sign-in-form">
      <Logo />
      {step.kind === 'first' && (
        <FirstStep {...{ ...step, title, notice, keepsPage }} onSecondFactor={startSecondFactor} />
      )}
      <Suspense fallback={<Loading />}>
        {step.kind === 'code' && <CodeStep {...step} onBack={goBack} />}
        {step.kind === 'enrolment' && <EnrolmentStep enrolmentToken={step.enrolmentToken} onBack={goBack} />}
      </Suspense>
      {children}
    </div>
  );
}

interface FirstStepProps {
  readonly title: string;
  readonly notice: string | undefined;
  readonly problem: string | undefined;
  readonly username: string | undefined;
  readonly keepsPage: boolean;
  readonly onSecondFactor: (credentials: Credentials, error: EspalierError) => void;
}

function FirstStep({ title, notice, problem, username, keepsPage, onSecondFactor }: FirstStepProps) {
  const methods = useLoginMethods();
  const provider = methods?.singleSignOn?.name;
  return (
    <>
      <h1>{title}</h1>
      {notice !== undefined && <p className="hint">{notice}</p>}
      {problem !== undefined && <Problem>{problem}</Problem>}
      {!methods && <Loading lines={3} />}
      {provider !== undefined && <SingleSignOnButton name={provider} opensTab={keepsPage} />}
      {provider !== undefined && methods?.password && <p className="sign-in-or">or with a password</p>}
      {methods?.password && (
        <PasswordForm username={username} isFirst={provider === undefined} onSecondFactor={onSecondFactor} />
      )}
      {methods?.passkeys && (
        <Suspense>
          <PasskeyButton>Sign in with a passkey</PasskeyButton>
        </Suspense>
      )}
    </>
  );
}
