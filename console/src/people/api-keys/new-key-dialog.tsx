/**
 * Displays a new API key once. The key is only in the state of this component: it is in no address, storage or cache. The dialog closes
 * only when the user confirms that the key is saved.
 */

import { useEffect, useEffectEvent } from 'react';
import { quoteForShell } from '../../actions/action.ts';
import { client } from '../../session/client.ts';
import { onSignOut } from '../../session/session-data.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Name } from '../../ui/text.tsx';

export interface CreatedKey {
  /** Null if the response of the request that created the key was lost. */
  readonly text: string | null;
  readonly name: string;
}

interface NewKeyDialogProps {
  readonly created: CreatedKey;
  readonly onClose: () => void;
}

export function NewKeyDialog({ created: { text, name }, onClose }: NewKeyDialogProps) {
  return text === null ? (
    <LostKeyDialog name={name} onClose={onClose} />
  ) : (
    <SavedKeyDialog text={text} name={name} onClose={onClose} />
  );
}

interface SavedKeyDialogProps {
  readonly text: string;
  readonly name: string;
  readonly onClose: () => void;
}

function SavedKeyDialog({ text, name, onClose }: SavedKeyDialogProps) {
  useUnsavedKey(name, onClose);
  return (
    <Dialog title={`API key “${name}”`} isClosable={false} onClose={onClose}>
      <div className="dialog-form">
        <p className="api-key-warning">
          <Icon name="warning" />
          <span>Save this key now, for example in a password manager. You cannot see it again.</span>
        </p>
        <div className="people-once">
          <code>{text}</code>
          <CopyButton text={text} label="Copy key" />
        </div>
        <Example title="Set it in the environment of the program" text={`ESPALIER_API_KEY=${text}`} />
        <Example title="Try it with curl" text={formatCurl(client.url)} />
        <footer className="dialog-footer">
          <span className="grow" />
          <Button tone="primary" onPress={onClose}>
            I saved the key
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}

/** Passes the key on standard input, because the history of the shell and the list of processes would contain an argument. */
function formatCurl(apiUrl: string): string {
  return [
    `curl ${quoteForShell(`${apiUrl}/graphql`)} \\`,
    "  -H @- -H 'Content-Type: application/json' \\",
    `  -d '{"query":"{viewer{user{username}}}"}' \\`,
    '  <<< "Authorization: Bearer $ESPALIER_API_KEY"',
  ].join('\n');
}

function Example({ title, text }: { title: string; text: string }) {
  return (
    <section className="field" aria-label={title}>
      <span className="label" aria-hidden="true">
        {title}
      </span>
      <div className="people-once">
        <pre className="api-key-example">{text}</pre>
        <CopyButton text={text} label={`Copy: ${title}`} />
      </div>
    </section>
  );
}

/** The browser asks before it leaves the page, and a sign-out in another tab does not remove the key. */
function useUnsavedKey(name: string, onClose: () => void): void {
  const close = useEffectEvent(onClose);
  useEffect(() => {
    const stopGuard = onSignOut(
      () => close(),
      () => [`API key ${name}`],
    );
    const preventLeaving = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', preventLeaving);
    return () => {
      stopGuard();
      removeEventListener('beforeunload', preventLeaving);
    };
  }, [name]);
}

function LostKeyDialog({ name, onClose }: Omit<SavedKeyDialogProps, 'text'>) {
  return (
    <Dialog title={`API key “${name}”`} onClose={onClose}>
      <div className="dialog-form">
        <p className="problem" role="alert">
          The server created the key <Name>{`“${name}”`}</Name>, but the response with the key was lost.
          Revoke this key, and create another one.
        </p>
        <footer className="dialog-footer">
          <span className="grow" />
          <Button tone="primary" onPress={onClose}>
            Close
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}
