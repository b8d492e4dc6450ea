/** The second factor of the viewer: the authenticator app, the passkeys and the recovery codes. */

import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useGraph } from '../graph/use-graph.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';
import { QueryResult } from '../ui/states.tsx';
import { Name } from '../ui/text.tsx';
import { Time } from '../ui/time.tsx';
import { AppDialog, NewRecoveryCodesDialog, RemoveAppDialog } from './app-dialogs.tsx';
import { AddPasskeyDialog, RemovePasskeyDialog, RenamePasskeyDialog } from './passkey-dialogs.tsx';
import { supportsPasskeys } from './passkeys.ts';
import {
  secondFactorDocument,
  secondFactorKey,
  type Passkey,
  type SecondFactor,
  type SecondFactorResponse,
} from './second-factor-data.ts';
import './second-factor.css';

type OpenDialog =
  | { readonly kind: 'app' | 'removeApp' | 'addPasskey' | 'codes' }
  | { readonly kind: 'renamePasskey' | 'removePasskey'; readonly passkey: Passkey };

type Open = (dialog: OpenDialog) => void;

export function SecondFactorCard() {
  const answer = useGraph<SecondFactorResponse>(secondFactorKey, secondFactorDocument);
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const opener = useRef<Element | null>(null);
  const open = (next: OpenDialog) => {
    opener.current = document.activeElement;
    setDialog(next);
  };
  const close = () => setDialog(null);
  // The last of several dialogs cannot return the focus, because the dialog before it had the focus.
  useEffect(() => {
    if (dialog === null && opener.current instanceof HTMLElement) opener.current.focus();
  }, [dialog]);
  const secondFactor = answer.data?.viewer.secondFactor;
  return (
    <section className="card" aria-labelledby="second-factor">
      <header className="card-header">
        <h2 id="second-factor">Second factor</h2>
        {secondFactor && <State secondFactor={secondFactor} />}
      </header>
      <QueryResult query={answer}>
        {({ viewer }) => (
          <ul className="factors">
            <App secondFactor={viewer.secondFactor} open={open} />
            <Passkeys secondFactor={viewer.secondFactor} open={open} />
            {viewer.secondFactor.isEnrolled && (
              <RecoveryCodeState secondFactor={viewer.secondFactor} open={open} />
            )}
          </ul>
        )}
      </QueryResult>
      {dialog && secondFactor && <DialogOf dialog={dialog} secondFactor={secondFactor} onClose={close} />}
    </section>
  );
}

function State({ secondFactor }: { secondFactor: SecondFactor }) {
  const { isEnrolled, isRequired, hasPassword } = secondFactor;
  if (isEnrolled) return <span className="label-chip good">On</span>;
  // Only a login with a password requires a second factor.
  return isRequired && hasPassword ? (
    <span className="label-chip warning">Required</span>
  ) : (
    <span className="label-chip">Off</span>
  );
}

interface DialogOfProps {
  readonly dialog: OpenDialog;
  readonly secondFactor: SecondFactor;
  readonly onClose: () => void;
}

function DialogOf({ dialog, ...props }: DialogOfProps) {
  switch (dialog.kind) {
    case 'app':
      return <AppDialog {...props} />;
    case 'removeApp':
      return <RemoveAppDialog {...props} />;
    case 'codes':
      return <NewRecoveryCodesDialog {...props} />;
    case 'addPasskey':
      return <AddPasskeyDialog {...props} />;
    case 'renamePasskey':
      return <RenamePasskeyDialog {...props} passkey={dialog.passkey} />;
    case 'removePasskey':
      return <RemovePasskeyDialog {...props} passkey={dialog.passkey} />;
  }
}

interface FactorProps {
  readonly icon: IconName;
  readonly name: string;
  readonly hint: ReactNode;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

function Factor({ icon, name, hint, actions, children }: FactorProps) {
  return (
    <li className="factor">
      <Icon name={icon} />
      <div className="factor-text">
        <h3>{name}</h3>
        <p className="hint">{hint}</p>
      </div>
      {actions && <div className="factor-actions">{actions}</div>}
      {children}
    </li>
  );
}

interface PartProps {
  readonly secondFactor: SecondFactor;
  readonly open: Open;
}

function App({ secondFactor: { totpSince }, open }: PartProps) {
  const isSetUp = totpSince !== null;
  return (
    <Factor
      icon="device"
      name="Authenticator app"
      hint={
        isSetUp ? (
          <>
            Set up <Time at={totpSince} />
          </>
        ) : (
          'An app on your phone displays a new code every 30 seconds.'
        )
      }
      actions={
        <>
          <Button size="small" onPress={() => open({ kind: 'app' })}>
            {isSetUp ? 'Replace…' : 'Set up…'}
          </Button>
          {isSetUp && (
            <Button size="small" onPress={() => open({ kind: 'removeApp' })}>
              Remove…
            </Button>
          )}
        </>
      }
    />
  );
}

/** Why the viewer cannot add a passkey here, or null. */
function explainNoPasskeys({ passkeyHost }: SecondFactor): string | null {
  if (passkeyHost === null) return 'This server is not configured for passkeys.';
  if (passkeyHost !== location.hostname) return `Passkeys work only at ${passkeyHost}.`;
  return supportsPasskeys
    ? null
    : 'This browser cannot use passkeys, or the console was not opened with https.';
}

function Passkeys({ secondFactor, open }: PartProps) {
  const { passkeys } = secondFactor;
  const obstacle = explainNoPasskeys(secondFactor);
  return (
    <Factor
      icon="key"
      name="Passkeys"
      hint={
        obstacle ?? 'Sign in without a password: with your fingerprint, your face or the PIN of your device.'
      }
      actions={
        obstacle === null && (
          <Button size="small" icon="plus" onPress={() => open({ kind: 'addPasskey' })}>
            Add a passkey…
          </Button>
        )
      }
    >
      {passkeys.length > 0 && (
        <ul className="passkeys" aria-label="Passkeys">
          {passkeys.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} open={open} />
          ))}
        </ul>
      )}
    </Factor>
  );
}

function PasskeyRow({ passkey, open }: { readonly passkey: Passkey; readonly open: Open }) {
  const { name, createdAt, lastUsedAt, isSynced } = passkey;
  return (
    <li className="passkey">
      <div className="factor-text">
        <Name>{name}</Name>
        <p className="hint">
          Added <Time at={createdAt} />
          {', '}
          {lastUsedAt === null ? (
            'never used'
          ) : (
            <>
              last used <Time at={lastUsedAt} />
            </>
          )}
          {isSynced && ', synced'}
        </p>
      </div>
      <div className="factor-actions">
        <IconButton
          label={`Rename ${name}`}
          icon="edit"
          onPress={() => open({ kind: 'renamePasskey', passkey })}
        />
        <IconButton
          label={`Remove ${name}`}
          icon="trash"
          onPress={() => open({ kind: 'removePasskey', passkey })}
        />
      </div>
    </li>
  );
}

/** At this number of codes, the user should create new ones. */
const fewCodes = 3;

function RecoveryCodeState({ secondFactor: { recoveryCodesLeft: left }, open }: PartProps) {
  return (
    <Factor
      icon="list"
      name="Recovery codes"
      hint={
        <>
          {left === 1 ? '1 code left' : `${left} codes left`}
          {left <= fewCodes && ' – create new ones soon'}
        </>
      }
      actions={
        <Button size="small" onPress={() => open({ kind: 'codes' })}>
          Create new codes…
        </Button>
      }
    />
  );
}
