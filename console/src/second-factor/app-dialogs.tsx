/** The dialogs to set up, replace and remove an authenticator app, and to create recovery codes. */

import { useState } from 'react';
import { perform } from '../actions/perform.ts';
import {
  confirmTotpEnrolment,
  createRecoveryCodes,
  removeTotp,
  startTotpEnrolment,
} from '../actions/second-factor-actions.ts';
import { peopleQueries } from '../graph/use-graph.ts';
import { useViewer } from '../session/session.tsx';
import { ActionDialog, Dialog } from '../ui/dialog.tsx';
import { AppSetup } from './app-setup.tsx';
import { useProof } from './proof-fields.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { describeEnded, describeLastRemoval, type SecondFactor } from './second-factor-data.ts';

export interface SecondFactorDialogProps {
  readonly secondFactor: SecondFactor;
  readonly onClose: () => void;
}

/** Asks for a proof, then displays the secret, and then the recovery codes if this is the first second factor. */
export function AppDialog({ secondFactor, onClose }: SecondFactorDialogProps) {
  const [secret, setSecret] = useState<{ readonly secret: string; readonly uri: string } | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const proof = useProof(secondFactor);
  const isReplacement = secondFactor.totpSince !== null;
  const title = isReplacement ? 'Replace the authenticator app' : 'Set up an authenticator app';
  if (codes) return <RecoveryCodesDialog codes={codes} onClose={onClose} />;
  if (secret) return <ConfirmAppDialog {...secret} title={title} onCodes={setCodes} onClose={onClose} />;
  const start = async () => {
    const input = { proof: await proof.read() };
    const { startTotpEnrolment: started } = await perform({
      action: startTotpEnrolment,
      variables: { input },
    });
    setSecret(started);
  };
  return (
    <ActionDialog
      title={title}
      verb="Next"
      isReady={proof.isReady}
      closesWhenDone={false}
      onSubmit={start}
      onClose={onClose}
    >
      <p>
        {isReplacement
          ? 'The current app works until you confirm the new one. Your other sessions are then revoked.'
          : describeApp(secondFactor)}
      </p>
      {proof.fields}
    </ActionDialog>
  );
}

function describeApp({ hasPassword }: SecondFactor): string {
  return hasPassword
    ? 'To sign in with your password, you then also need a code from an app on your phone.'
    : 'You then confirm changes of your second factor with a code from an app on your phone. Single sign-on does not ask for this code.';
}

interface ConfirmAppDialogProps {
  readonly title: string;
  readonly secret: string;
  readonly uri: string;
  readonly onCodes: (codes: readonly string[]) => void;
  readonly onClose: () => void;
}

function ConfirmAppDialog({ title, secret, uri, onCodes, onClose }: ConfirmAppDialogProps) {
  const [code, setCode] = useState('');
  const confirm = async () => {
    const { confirmTotpEnrolment: done } = await perform({
      action: confirmTotpEnrolment,
      variables: { input: { code } },
      doneText: ({ confirmTotpEnrolment: { endedSessions } }) =>
        describeEnded('The authenticator app is set up', endedSessions),
      staleQueries: peopleQueries,
    });
    if (done.recoveryCodes) onCodes(done.recoveryCodes);
    else onClose();
  };
  return (
    <ActionDialog
      title={title}
      verb="Confirm"
      isReady={code.trim() !== ''}
      closesWhenDone={false}
      onSubmit={confirm}
      onClose={onClose}
    >
      <AppSetup secret={secret} uri={uri} code={code} hasFocus onChange={setCode} />
    </ActionDialog>
  );
}

/** Cannot be closed before the user has stored the codes. */
export function RecoveryCodesDialog({
  codes,
  onClose,
}: {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}) {
  const { username } = useViewer();
  return (
    <Dialog title="Recovery codes" isClosable={false} onClose={onClose}>
      <div className="dialog-form">
        <RecoveryCodes codes={codes} username={username} onDone={onClose} />
      </div>
    </Dialog>
  );
}

export function RemoveAppDialog({ secondFactor, onClose }: SecondFactorDialogProps) {
  const proof = useProof(secondFactor);
  const remove = async () => {
    const input = { proof: await proof.read() };
    await perform({
      action: removeTotp,
      variables: { input },
      doneText: ({ removeTotp: { endedSessions } }) =>
        describeEnded('The authenticator app was removed', endedSessions),
      staleQueries: peopleQueries,
    });
  };
  return (
    <ActionDialog
      title="Remove the authenticator app"
      verb="Remove"
      isDanger
      isReady={proof.isReady}
      onSubmit={remove}
      onClose={onClose}
    >
      <p>{describeRemoval(secondFactor)} Your other sessions are revoked.</p>
      {proof.fields}
    </ActionDialog>
  );
}

function describeRemoval({ hasPassword, passkeys }: SecondFactor): string {
  if (passkeys.length === 0) return describeLastRemoval(hasPassword);
  return hasPassword
    ? 'To sign in with your password, you then need a passkey or a recovery code.'
    : 'You can no longer confirm changes with its codes.';
}

export function NewRecoveryCodesDialog({ secondFactor, onClose }: SecondFactorDialogProps) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const proof = useProof(secondFactor);
  const create = async () => {
    const input = { proof: await proof.read() };
    const result = await perform({
      action: createRecoveryCodes,
      variables: { input },
      staleQueries: peopleQueries,
    });
    setCodes(result.createRecoveryCodes.recoveryCodes ?? []);
  };
  if (codes) return <RecoveryCodesDialog codes={codes} onClose={onClose} />;
  return (
    <ActionDialog
      title="Create new recovery codes"
      verb="Create codes"
      isReady={proof.isReady}
      closesWhenDone={false}
      onSubmit={create}
      onClose={onClose}
    >
      <p>The previous recovery codes stop working.</p>
      {proof.fields}
    </ActionDialog>
  );
}
