/** The filter fields of the journal. Their values are in the address. */

import {
  Button as AriaButton,
  Header,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
} from 'react-aria-components';
import { useId, useState } from 'react';
import { client } from '../../session/client.ts';
import { isComposing } from '../../ui/typing.ts';
import { DateTimeField } from '../../ui/date-time-field.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Icon } from '../../ui/icons.tsx';
import type { JournalKind } from '../../ui/journal-sentence.ts';
import { PersonPicker } from '../../ui/person-picker.tsx';
import { kindGroups, type JournalFilter } from './journal-filter.ts';
import { rememberPath, rememberPerson, useFolderPath, usePerson } from './names.ts';

interface Props {
  readonly filter: JournalFilter;
  readonly onChange: (filter: JournalFilter) => void;
}

export function JournalFilters({ filter, onChange }: Props) {
  const { byId, userId, groupId, folderId, kinds, from, until } = filter;
  const by = usePerson('user', byId);
  const user = usePerson('user', userId);
  const group = usePerson('group', groupId);
  const set = (changes: { [Name in keyof JournalFilter]: JournalFilter[Name] | undefined }) => {
    const fields = Object.entries({ ...filter, ...changes }).filter(([, value]) => value !== undefined);
    onChange(Object.fromEntries(fields));
  };
  return (
    <section className="card journal-filters" id="journal-filters" aria-label="Filters">
      <PersonPicker
        label="Changed by"
        kinds="users"
        placeholder="Any user"
        value={by}
        onChange={(person) => {
          rememberPerson(person);
          set({ byId: person?.id });
        }}
      />
      <PersonPicker
        label="Affected user or group"
        kinds="usersAndGroups"
        placeholder="Any user or group"
        value={user ?? group}
        onChange={(person) => {
          rememberPerson(person);
          set({
            userId: person?.kind === 'user' ? person.id : undefined,
            groupId: person?.kind === 'group' ? person.id : undefined,
          });
        }}
      />
      <FolderField id={folderId} onChange={(id) => set({ folderId: id })} />
      <KindsField kinds={kinds ?? []} onChange={(next) => set({ kinds: next.length ? next : undefined })} />
      <DateTimeField label="From" at={from} onChange={(at) => set({ from: at })} />
      <DateTimeField label="Until" at={until} onChange={(at) => set({ until: at })} />
    </section>
  );
}

interface FolderFieldProps {
  readonly id: string | undefined;
  readonly onChange: (id: string | undefined) => void;
}

const idDocument = /* GraphQL */ `
  query FolderAtPath($path: String!) {
    folder(path: $path) {
      id
    }
  }
`;

/** Accepts an id, or a path that it resolves to an id. Displays the path of a folder that exists. */
function FolderField({ id, onChange }: FolderFieldProps) {
  const path = useFolderPath(id);
  const value = path ?? id ?? '';
  const [text, setText] = useSyncedText(value);
  const [error, setError] = useState<string>();
  const submit = async () => {
    const idOrPath = text.trim();
    if (idOrPath === value) return;
    if (!idOrPath.startsWith('/')) return onChange(idOrPath === '' ? undefined : idOrPath);
    try {
      const result = await client.query<{ folder: { id: string } | null }>(idDocument, { path: idOrPath });
      if (!result.folder) return setError('There is no folder at this path.');
      rememberPath(result.folder.id, idOrPath);
      onChange(result.folder.id);
    } catch {
      setError('The folder search failed. Try again.');
    }
  };
  return (
    <TextField
      label="Folder"
      placeholder="Any folder; path or id"
      value={text}
      help={path === null && 'This folder no longer exists.'}
      error={error}
      onChange={(next) => {
        setText(next);
        setError(undefined);
      }}
      onBlur={() => void submit()}
      onKeyDown={(event) => void (event.key === 'Enter' && !isComposing(event) && submit())}
    />
  );
}

/** The text of a field. It is replaced when the value in the address changes. */
function useSyncedText(value: string): [string, (text: string) => void] {
  const [text, setText] = useState(value);
  const [seen, setSeen] = useState(value);
  if (seen !== value) {
    setSeen(value);
    setText(value);
  }
  return [text, setText];
}

interface KindsFieldProps {
  readonly kinds: readonly JournalKind[];
  readonly onChange: (kinds: readonly JournalKind[]) => void;
}

/** Selects several kinds of entries. */
function KindsField({ kinds, onChange }: KindsFieldProps) {
  const labelId = useId();
  const valueId = useId();
  return (
    <div className="field">
      <span className="label" id={labelId}>
        Kind of change
      </span>
      <MenuTrigger>
        <AriaButton className="input select" aria-labelledby={`${labelId} ${valueId}`}>
          <span id={valueId} className={kinds.length === 0 ? 'journal-kinds none' : 'journal-kinds'}>
            {chosenText(kinds)}
          </span>
          <Icon name="down" />
        </AriaButton>
        <Popover className="popover">
          <Menu
            className="menu"
            aria-labelledby={labelId}
            selectionMode="multiple"
            selectedKeys={kinds}
            onSelectionChange={(keys) => keys !== 'all' && onChange([...keys] as JournalKind[])}
          >
            {kindGroups.map(({ label, kinds: ofGroup }) => (
              <MenuSection key={label}>
                <Header className="menu-header">{label}</Header>
                {ofGroup.map(({ id, label: text }) => (
                  <MenuItem key={id} id={id} textValue={text} className="menu-item journal-kind">
                    <Icon name="check" />
                    {text}
                  </MenuItem>
                ))}
              </MenuSection>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
    </div>
  );
}

function chosenText(kinds: readonly JournalKind[]): string {
  if (kinds.length === 0) return 'Any change';
  const labels = kindGroups.flatMap((group) => group.kinds).filter(({ id }) => kinds.includes(id));
  return labels.length === 1 ? labels[0]!.label : `${labels.length} kinds`;
}
