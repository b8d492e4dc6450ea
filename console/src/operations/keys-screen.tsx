/** The signing keys of auth tokens: the active, retired and upcoming ones. Only the command line can change them. */

import { useGraph } from '../graph/use-graph.ts';
import { CopyButton } from '../ui/copy.tsx';
import { DataTable, type TableColumn } from '../ui/data-table.tsx';
import { Empty } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import './keys.css';

const document = /* GraphQL */ `
  query Keys {
    server {
      keys {
        id
        state
        createdAt
        signsFrom
        neededUntil
        sealedWith
      }
    }
  }
`;

interface SigningKey {
  readonly id: string;
  readonly state: 'PUBLISHED' | 'SIGNS' | 'VERIFIES';
  readonly createdAt: string;
  readonly signsFrom: string;
  readonly neededUntil: string | null;
  readonly sealedWith: string | null;
}

const states = {
  PUBLISHED: { label: 'Published', tone: 'info', means: 'Verifies tokens and will sign later.' },
  SIGNS: { label: 'Signs', tone: 'good', means: 'Signs new tokens.' },
  VERIFIES: { label: 'Verifies', tone: '', means: 'Verifies tokens that it signed before.' },
} as const;

const commands: readonly { readonly words: string; readonly does: string }[] = [
  {
    words: 'espalier signing-key rotate',
    does: 'Publishes a new key, which starts to sign after five minutes. Users stay signed in.',
  },
  {
    words: 'espalier signing-key retire <id>',
    does: 'Retires a key that no longer signs. Users with a token from this key must sign in again.',
  },
  {
    words: 'espalier signing-key retire <id> --at-once',
    does: 'Retires a key even if it signs now, and replaces it with a new key. Use this if others may have the key.',
  },
];

export function KeysScreen() {
  const answer = useGraph<{ server: { keys: readonly SigningKey[] } }>(['server', 'keys'], document);
  return (
    <main className="page">
      <header className="page-header">
        <h1>Signing keys</h1>
      </header>
      <p className="page-about">
        The server signs auth tokens with one of these keys, and accepts tokens from all of them. It creates a
        new key regularly, and keeps each key as long as its tokens can be in use.
      </p>
      <DataTable
        label="Signing keys"
        columns={columns}
        list={{ ...answer, data: answer.data?.server.keys }}
        keyOf={keyOf}
        empty={
          <Empty icon="key" title="No signing keys">
            <p>
              Users cannot sign in without a key. Check the log of the server, and create a key with{' '}
              <code>espalier signing-key rotate</code>.
            </p>
          </Empty>
        }
      />
      <section className="card" aria-labelledby="keys-commands">
        <h2 id="keys-commands">Commands</h2>
        <p className="soft">
          You can change keys only on a machine with access to the database, so that an attacker in a browser
          cannot change them.
        </p>
        <ul className="keys-commands">
          {commands.map(({ words, does }) => (
            <li key={words}>
              <div className="keys-command">
                <code>{words}</code>
                <CopyButton text={words} label={`Copy: ${words}`} />
              </div>
              <p className="soft">{does}</p>
            </li>
          ))}
        </ul>
      </section>
    </main>
  );
}

const keyOf = ({ id }: SigningKey) => id;

const columns: readonly TableColumn<SigningKey>[] = [
  {
    id: 'key',
    label: 'Key',
    isRowHeader: true,
    render: ({ id }) => (
      <span className="keys-name">
        <code>{id}</code>
        <CopyButton text={id} label={`Copy the id ${id}`} />
      </span>
    ),
  },
  {
    id: 'state',
    label: 'State',
    render: ({ state }) => (
      <>
        <span className={`label-chip ${states[state].tone}`}>{states[state].label}</span>
        <p className="keys-means soft">{states[state].means}</p>
      </>
    ),
  },
  {
    id: 'created',
    label: 'Created',
    minTableWidth: 760,
    className: 'cell-time',
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
  {
    id: 'signsFrom',
    label: 'Signs from',
    minTableWidth: 480,
    className: 'cell-time',
    render: ({ signsFrom }) => <Time at={signsFrom} isDeadline />,
  },
  {
    id: 'neededUntil',
    label: 'Needed until',
    minTableWidth: 640,
    render: ({ neededUntil }) =>
      neededUntil === null ? (
        <span className="soft">After a new key signs</span>
      ) : (
        <Time at={neededUntil} isDeadline />
      ),
  },
  {
    id: 'sealedWith',
    label: 'Sealed with',
    minTableWidth: 760,
    render: ({ sealedWith }) =>
      sealedWith === null ? (
        <span className="soft">No master key</span>
      ) : (
        <>
          master key <code>{sealedWith}</code>
        </>
      ),
  },
];
