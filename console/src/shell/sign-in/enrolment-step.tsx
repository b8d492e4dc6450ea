/** The setup of an authenticator app during a sign-in, if the server requires a second factor and the user has none. */

import type { StartedEnrolment } from '@espalier/client';
import { useEffect, useRef, useState } from 'react';
import { Form } from 'react-aria-components';
import { AppSetup } from '../../second-factor/app-setup.tsx';
import { RecoveryCodes } from '../../second-factor/recovery-codes.tsx';
import { client } from '../../session/client.ts';
import { Button } from '../../ui/button.tsx';
import { Loading } from '../../ui/states.tsx';
import { useCodeForm } from './code-form.ts';
import { Problem } from './problem.tsx';

interface EnrolmentStepProps {
  readonly enrolmentToken: string;
  /** Returns to the password, for example with the problem that the setup took too long. */
  readonly onBack: (problem?: unknown) => void;
}

export function EnrolmentStep({ enrolmentToken, onBack }: EnrolmentStepProps) {
  const [enrolment, setEnrolment] = useState<StartedEnrolment | null>(null);
  const [stored, setStored] = useState<StoredCodes | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    client.startEnrolment(enrolmentToken, { signal }).then(setEnrolment, (error: unknown) => {
      if (!signal.aborted) onBack(error);
    });
    return () => controller.abort();
    // oxlint-disable-next-line react/exhaustive-deps -- The enrolment starts once for each token.
  }, [enrolmentToken]);

  if (!enrolment) {
    return (
      <>
        <StepTitle>Set up a second factor</StepTitle>
        <Loading />
      </>
    );
  }
  if (stored) {
    return (
      <>
        <StepTitle>Recovery codes</StepTitle>
        <RecoveryCodes codes={stored.codes} username={enrolment.username} onDone={stored.finish} />
      </>
    );
  }
  return (
    <SetupForm enrolmentToken={enrolmentToken} enrolment={enrolment} onCodes={setStored} onBack={onBack} />
  );
}

interface StoredCodes {
  readonly codes: readonly string[];
  /** Opens the console. */
  readonly finish: () => void;
}

interface SetupFormProps extends EnrolmentStepProps {
  readonly enrolment: StartedEnrolment;
  readonly onCodes: (codes: StoredCodes) => void;
}

function SetupForm({ enrolmentToken, enrolment, onCodes, onBack }: SetupFormProps) {
  const confirm = async (code: string) => {
    const { recoveryCodes } = await client.confirmEnrolment({ enrolmentToken, code });
    // The session has started. The screens wait until the user has stored the codes.
    await new Promise<void>((finish) => onCodes({ codes: recoveryCodes, finish }));
  };
  const { code, setCode, isPending, problem, submit } = useCodeForm({
    signIn: confirm,
    finalError: 'INVALID_ENROLMENT_TOKEN',
    onBack,
  });
  return (
    <>
      <StepTitle>Set up a second factor</StepTitle>
      <p className="hint">This server requires a second factor in addition to your password.</p>
      <Form className="sign-in-fields" onSubmit={submit}>
        <AppSetup secret={enrolment.secret} uri={enrolment.uri} code={code} onChange={setCode} />
        {problem !== null && <Problem>{problem}</Problem>}
        <Button type="submit" tone="primary" isPending={isPending}>
          Confirm
        </Button>
      </Form>
      <Button tone="quiet" icon="back" onPress={() => onBack()}>
        Back
      </Button>
    </>
  );
}

/** Takes the focus, because the fields of the step before are gone. */
function StepTitle({ children }: { children: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
