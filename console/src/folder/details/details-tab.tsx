/** Shows the facts of a folder, and its texts and properties, which users with write access can edit. */

import { useGraph } from '../../graph/use-graph.ts';
import { currentView } from '../../session/view-as.ts';
import { useViewer } from '../../session/session.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Name } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { FolderForm } from './folder-form.tsx';
import { hasLevel, type CurrentFolder } from '../current-folder.ts';
import './details.css';

export function DetailsTab({ folder }: { folder: CurrentFolder }) {
  return (
    <div className="folder-details">
      <Facts folder={folder} />
      {hasLevel(folder.accessLevel, 'WRITE') ? (
        <FolderForm folder={folder} />
      ) : (
        <ReadOnlyDetails folder={folder} />
      )}
    </div>
  );
}

const lastChangeDocument = /* GraphQL */ `
  query LastChangeOf($id: ID!) {
    journal(
      first: 1
      filter: { folderId: $id, kinds: [CREATE_FOLDER, UPDATE_FOLDER, MOVE_FOLDER, RESTORE_FOLDER] }
    ) {
      items {
        at
        by {
          id
          username
        }
      }
    }
  }
`;

interface LastChange {
  readonly journal: {
    readonly items: readonly {
      readonly at: string;
      readonly by: { readonly id: string; readonly username: string } | null;
    }[];
  };
}

function Facts({ folder }: { folder: CurrentFolder }) {
  const { id, path, version, createdAt, updatedAt } = folder;
  const { isAdministrator } = useViewer();
  const { data } = useGraph<LastChange>(
    ['folder', id, 'last-change'],
    lastChangeDocument,
    { id },
    // Only administrators may read the journal.
    { enabled: isAdministrator },
  );
  const changedBy = data?.journal.items[0]?.by;
  return (
    <section className="card" aria-label="Facts">
      <dl className="facts">
        <dt>Path</dt>
        <dd className="folder-copied">
          <code>
            <Name>{path}</Name>
          </code>{' '}
          <CopyButton label="Copy path" text={path} />
        </dd>
        <dt>Id</dt>
        <dd className="folder-copied">
          <code>{id}</code> <CopyButton label="Copy id" text={id} />
        </dd>
        <dt>Version</dt>
        <dd className="number">{version}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={createdAt} />
        </dd>
        <dt>Changed</dt>
        <dd>
          <Time at={updatedAt} />
          {changedBy && (
            <>
              {' '}
              by <Name>{changedBy.username}</Name>
            </>
          )}
        </dd>
      </dl>
    </section>
  );
}

function ReadOnlyDetails({
  folder: { name, title, icon, description, properties },
}: {
  folder: CurrentFolder;
}) {
  const entries = Object.entries(properties);
  // Without a title, the API returns the name.
  const hasTitle = title !== name;
  return (
    <>
      <section className="card" aria-labelledby="folder-texts">
        <h2 id="folder-texts">Texts</h2>
        <dl className="facts">
          <dt>Title</dt>
          <dd>{hasTitle ? <Name>{title}</Name> : <span className="soft">none</span>}</dd>
          <dt>Icon</dt>
          <dd>{icon ?? <span className="soft">none</span>}</dd>
          <dt>Description</dt>
          <dd className="folder-description">{description ?? <span className="soft">none</span>}</dd>
        </dl>
      </section>
      <section className="card" aria-labelledby="folder-properties">
        <h2 id="folder-properties">Properties</h2>
        {entries.length === 0 ? (
          <p className="hint">None.</p>
        ) : (
          <dl className="facts">
            {entries.map(([key, value]) => (
              <div key={key} className="contents">
                <dt>
                  <code>{key}</code>
                </dt>
                <dd>{typeof value === 'string' ? value : <code>{JSON.stringify(value)}</code>}</dd>
              </div>
            ))}
          </dl>
        )}
      </section>
      <p className="hint">
        {currentView
          ? 'A view as another user is read only.'
          : 'You can read this folder. Only users with Write access can change it.'}
      </p>
    </>
  );
}
