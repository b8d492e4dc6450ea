/** The dialogs to add, rename and remove a passkey. */

import { useState } from 'react';
import { perform } from '../actions/perform.ts';
import {
  finishPasskeyEnrolment,
  removePasskey,
  renamePasskey,
  startPasskeyEnrolment,
} from '../actions/second-factor-actions.ts';
import { peopleQueries } from '../graph/use-graph.ts';
import { ActionDialog, NameDialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/fields.tsx';
import { Name } from '../ui/text.tsx';
import { RecoveryCodesDialog, type SecondFactorDialogProps } from './app-dialogs.tsx';
import { createPasskey } from './passkeys.ts';
import { useProof } from './proof-fields.tsx';
import { describeEnded, describeLastRemoval, type Passkey, type SecondFactor } from './second-factor-data.ts';

export function AddPasskeyDialog({ secondFactor, onClose }: SecondFactorDialogProps) {
  const [name, setName] = useState('');
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const proof = useProof(secondFactor, { hasFocus: false });
  const add = async () => {
    const input = { proof: await proof.read() };
    const started = await perform({ action: startPasskeyEnrolment, variables: { input } });
    const { challengeId, options } = started.startPasskeyEnrolment;
    const response = await createPasskey(options);
    const { finishPasskeyEnrolment: done } = await perform({
      action: finishPasskeyEnrolment,
      variables: { input: { challengeId, response, name } },
      doneText: ({ finishPasskeyEnrolment: { endedSessions } }) =>
        describeEnded(`Added the passkey ${name}`, endedSessions),
      staleQueries: peopleQueries,
    });
    if (done.recoveryCodes) setCodes(done.recoveryCodes);
    else onClose();
  };
  if (codes) return <RecoveryCodesDialog codes={codes} onClose={onClose} />;
  return (
    <ActionDialog
      title="Add a passkey"
      verb="Add passkey"
      isReady={name.trim() !== '' && proof.isReady}
      closesWhenDone={false}
      onSubmit={add}
      onClose={onClose}
    >
      <p>{describePasskey(secondFactor)} Your browser asks you to create the passkey.</p>
      <TextField
        label="Name"
        name="name"
        help="For example the device: “Phone” or “Security key”."
        value={name}
        onChange={setName}
        maxLength={128}
        isRequired
        autoFocus
        autoComplete="off"
      />
      {proof.fields}
    </ActionDialog>
  );
}

function describePasskey({ hasPassword, isEnrolled }: SecondFactor): string {
  if (!hasPassword) return 'You can then sign in with the passkey alone.';
  return isEnrolled
    ? 'You can then sign in with the passkey, without your password.'
    : 'You can then sign in with the passkey, without your password. Your password alone is no longer enough.';
}

interface PasskeyDialogProps {
  readonly passkey: Passkey;
  readonly secondFactor: SecondFactor;
  readonly onClose: () => void;
}

export function RenamePasskeyDialog({ passkey: { id, name }, onClose }: PasskeyDialogProps) {
  return (
    <NameDialog
      title={`Rename ${name}`}
      verb="Rename"
      name={name}
      taskOf={(newName) => ({
        action: renamePasskey,
        variables: { input: { id, name: newName } },
        doneText: `Renamed to ${newName}`,
        staleQueries: peopleQueries,
      })}
      onClose={onClose}
    />
  );
}

export function RemovePasskeyDialog({ passkey, secondFactor, onClose }: PasskeyDialogProps) {
  const { id, name } = passkey;
  const proof = useProof(secondFactor);
  const isLast = secondFactor.passkeys.length === 1 && secondFactor.totpSince === null;
  const remove = async () => {
    const input = { id, proof: await proof.read() };
    await perform({
      action: removePasskey,
      variables: { input },
      doneText: ({ removePasskey: { endedSessions } }) =>
        describeEnded(`Removed the passkey ${name}`, endedSessions),
      staleQueries: peopleQueries,
    });
  };
  return (
    <ActionDialog
      title={`Remove ${name}`}
      verb="Remove"
      isDanger
      isReady={proof.isReady}
      onSubmit={remove}
      onClose={onClose}
    >
      <p>
        You can no longer sign in with the passkey <Name>{name}</Name>.{' '}
        {isLast && `${describeLastRemoval(secondFactor.hasPassword)} `}
        Your other sessions are revoked. Also delete the passkey on your device.
      </p>
      {proof.fields}
    </ActionDialog>
  );
}
