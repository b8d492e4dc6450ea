/** The dialog to create an API key for the viewer or for a service account. It ends with the key itself, which is displayed once. */

import { useState } from 'react';
import { createApiKey, type KeyLevel } from '../../actions/api-key-actions.ts';
import { peopleQueries } from '../../graph/use-graph.ts';
import { useViewer } from '../../session/session.tsx';
import { FolderPicker } from '../../tree/search/folder-picker.tsx';
import { accessLevels } from '../../ui/access-level.tsx';
import { DateTimeField } from '../../ui/date-time-field.tsx';
import { ActionDialog } from '../../ui/dialog.tsx';
import { Checkbox, Select, TextField } from '../../ui/fields.tsx';
import { Name } from '../../ui/text.tsx';
import { formatDay, useNow } from '../../ui/time.tsx';
import {
  expiryOf,
  expiryOptions,
  initialKeyForm,
  isComplete,
  toNewApiKey,
  type KeyForm,
} from './key-form.ts';
import { NewKeyDialog, type CreatedKey } from './new-key-dialog.tsx';

/** The user of the new key. */
export interface KeyOwner {
  readonly id: string;
  readonly username: string;
  readonly isAdministrator: boolean;
}

interface CreateApiKeyDialogProps {
  readonly owner: KeyOwner;
  readonly onClose: () => void;
}

export function CreateApiKeyDialog({ owner, onClose }: CreateApiKeyDialogProps) {
  const viewer = useViewer();
  const [form, setForm] = useState(initialKeyForm);
  const [created, setCreated] = useState<CreatedKey | null>(null);
  const now = useNow();
  const change = (changes: Partial<KeyForm>) => setForm((before) => ({ ...before, ...changes }));
  const isOwn = owner.id === viewer.id;
  const task = {
    action: createApiKey,
    variables: { input: toNewApiKey(form, isOwn ? undefined : owner.id, now) },
    staleQueries: peopleQueries,
  };
  if (created) return <NewKeyDialog created={created} onClose={onClose} />;
  return (
    <ActionDialog
      title={isOwn ? 'Create API key' : `Create API key for ${owner.username}`}
      verb="Create API key"
      task={task}
      isReady={isComplete(form)}
      closesWhenDone={false}
      onDone={({ createApiKey: { key, apiKey } }) => setCreated({ text: key, name: apiKey.name })}
      onClose={onClose}
    >
      <TextField
        label="Name"
        name="name"
        value={form.name}
        onChange={(name) => change({ name })}
        help="To recognize the key, for example the name of the program."
        isRequired
        autoFocus
        autoComplete="off"
      />
      {owner.isAdministrator && viewer.isAdministrator && (
        <Checkbox
          isSelected={form.isAdministrator}
          onChange={(isAdministrator) => change({ isAdministrator })}
        >
          <span>
            Acts as administrator
            <span className="hint"> – has full access</span>
          </span>
        </Checkbox>
      )}
      {!form.isAdministrator && <LimitFields form={form} change={change} />}
      <ExpiryFields form={form} change={change} now={now} />
      <NetworksField form={form} change={change} />
      <p className="hint">
        The key never has more access than <Name>{isOwn ? 'you' : owner.username}</Name>.
      </p>
    </ActionDialog>
  );
}

interface FieldsProps {
  readonly form: KeyForm;
  readonly change: (changes: Partial<KeyForm>) => void;
}

const levels = accessLevels.flatMap(({ id, ...texts }) =>
  id === 'NONE' ? [] : [{ id: id satisfies KeyLevel, ...texts }],
);

const scopes = [
  { id: 'all', label: 'All folders', help: 'Every folder that the user has access to.' },
  {
    id: 'one',
    label: 'One folder',
    help: 'A folder and everything inside. Of other folders, the key sees only the path to this one.',
  },
] as const;

/** The highest level, and the folder. */
function LimitFields({ form, change }: FieldsProps) {
  return (
    <>
      <Select
        label="Highest level"
        value={form.level}
        options={levels}
        onChange={(level) => change({ level })}
      />
      <Select label="Folders" value={form.scope} options={scopes} onChange={(scope) => change({ scope })} />
      {form.scope === 'one' && (
        <FolderPicker label="Folder" picked={form.folder} onPick={(folder) => change({ folder })} />
      )}
    </>
  );
}

function ExpiryFields({ form, change, now }: FieldsProps & { readonly now: number }) {
  const expiresAt = expiryOf(form, now);
  return (
    <>
      <div className="field">
        <Select
          label="Expires"
          value={form.expiry}
          options={expiryOptions}
          onChange={(expiry) => change({ expiry })}
        />
        {form.expiry === 'never' && (
          <p className="hint">
            The key works until you revoke it. Prefer a date, and replace the key in time.
          </p>
        )}
        {form.expiry !== 'date' && expiresAt !== undefined && (
          <p className="hint">The key stops working on {formatDay(expiresAt)}.</p>
        )}
      </div>
      {form.expiry === 'date' && (
        <DateTimeField label="Expires at" at={form.expiresAt} onChange={(at) => change({ expiresAt: at })} />
      )}
    </>
  );
}

function NetworksField({ form, change }: FieldsProps) {
  return (
    <TextField
      label="Networks"
      name="networks"
      value={form.networks}
      onChange={(networks) => change({ networks })}
      help="The IP addresses or CIDR ranges from which the key works, one per line, for example 10.0.0.0/8. Leave it empty to allow every address."
      rows={2}
      isCode
      spellCheck="false"
      autoComplete="off"
    />
  );
}
