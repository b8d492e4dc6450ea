/**
 * A field that picks a user or a group by a part of the name. Only administrators may list users, so other viewers must
 * type user names in full.
 */

import { keepPreviousData } from '@tanstack/react-query';
import {
  Button as AriaButton,
  ComboBox,
  ComboBoxStateContext,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Text,
  type Key,
} from 'react-aria-components';
import { use, useEffect, useEffectEvent, useState, type KeyboardEvent } from 'react';
import { useGraph } from '../graph/use-graph.ts';
import { useViewer } from '../session/session.tsx';
import { isComposing, useDebounced } from './typing.ts';
import { Icon } from './icons.tsx';
import './person-picker.css';
import { Name } from './text.tsx';

export interface PickedPerson {
  readonly kind: 'user' | 'group';
  readonly id: string;
  readonly name: string;
}

interface PersonPickerProps {
  readonly label: string;
  readonly kinds: 'users' | 'groups' | 'usersAndGroups';
  readonly value: PickedPerson | null;
  readonly onChange: (person: PickedPerson | null) => void;
  /** Ids that are not suggested. */
  readonly excludedIds?: readonly string[];
  readonly placeholder?: string;
  readonly autoFocus?: boolean;
  readonly isLabelHidden?: boolean;
}

const maxSuggestions = 20;

const listDocument = /* GraphQL */ `
  query PeopleToPick($text: String, $first: Int, $withUsers: Boolean!, $withGroups: Boolean!) {
    users(text: $text, first: $first) @include(if: $withUsers) {
      items {
        id
        username
      }
    }
    groups(text: $text, first: $first) @include(if: $withGroups) {
      items {
        id
        name
      }
    }
  }
`;

const exactDocument = /* GraphQL */ `
  query PersonToPick($text: String, $first: Int, $withUsers: Boolean!, $withGroups: Boolean!) {
    user(username: $text) @include(if: $withUsers) {
      id
      username
    }
    groups(text: $text, first: $first) @include(if: $withGroups) {
      items {
        id
        name
      }
    }
  }
`;

interface UserName {
  readonly id: string;
  readonly username: string;
}

interface PeopleResponse {
  readonly users?: { readonly items: readonly UserName[] };
  readonly user?: UserName | null;
  readonly groups?: { readonly items: readonly { readonly id: string; readonly name: string }[] };
}

export function PersonPicker(props: PersonPickerProps) {
  const { label, kinds, value, onChange, excludedIds = [], placeholder, autoFocus, isLabelHidden } = props;
  const { isAdministrator } = useViewer();
  const [text, setText] = useState(value?.name ?? '');
  const [lastValue, setLastValue] = useState(value);
  if (lastValue !== value) {
    setLastValue(value);
    setText(value?.name ?? '');
  }

  const typed = text === value?.name ? '' : text.trim();
  const search = usePeopleSearch(kinds, typed, excludedIds);
  const { people } = search;
  const items = value && typed === '' ? [value, ...people.filter(({ id }) => id !== value.id)] : people;

  /** The combo box also calls this with the current value when the field loses the focus. */
  const choose = (key: Key | null) => {
    const candidates = [...items, ...(value ? [value] : [])];
    const person = candidates.find((candidate) => keyOf(candidate) === key) ?? null;
    setText(person?.name ?? '');
    if (person?.id !== value?.id) onChange(person);
  };
  const enter = usePickOnEnter(search, typed, choose);
  return (
    <ComboBox
      className="field person-picker"
      {...(isLabelHidden ? { 'aria-label': label } : {})}
      items={items.map((person) => ({ ...person, key: keyOf(person) }))}
      value={value ? keyOf(value) : null}
      inputValue={text}
      allowsEmptyCollection
      {...(autoFocus ? { autoFocus } : {})}
      onChange={choose}
      onInputChange={(next) => {
        setText(next);
        enter.cancel();
        if (next === '' && value) onChange(null);
      }}
    >
      {!isLabelHidden && <Label>{label}</Label>}
      <div className="person-picker-input">
        <PickerInput placeholder={placeholder} onEnter={enter.request} />
        <AriaButton className="icon-button quiet">
          <Icon name="down" />
        </AriaButton>
      </div>
      {!isAdministrator && kinds !== 'groups' && (
        <Text slot="description">
          {kinds === 'users'
            ? 'Enter the full user name.'
            : 'Enter a full user name or a part of a group name.'}
        </Text>
      )}
      <Suggestions label={label} kinds={kinds} search={search} />
    </ComboBox>
  );
}

/** Searches people when the user pauses. */
function usePeopleSearch(kinds: PersonPickerProps['kinds'], typed: string, excludedIds: readonly string[]) {
  const { isAdministrator } = useViewer();
  const searchText = useDebounced(typed);
  const withGroups = kinds !== 'users';
  const withUsers = kinds !== 'groups' && (isAdministrator || searchText !== '');
  const { data, error, isFetching, isPlaceholderData } = useGraph<PeopleResponse>(
    ['people', 'picker', kinds, searchText],
    isAdministrator ? listDocument : exactDocument,
    { text: searchText, first: maxSuggestions, withUsers, withGroups },
    { placeholderData: keepPreviousData },
  );
  const isStale = isPlaceholderData || searchText !== typed;
  const people = peopleOf(data).filter(
    ({ id, name }) =>
      !excludedIds.includes(id) &&
      // Results of a previous text may not match. Pressing Enter must not pick another person.
      (!isStale || name.toLowerCase().includes(typed.toLowerCase())),
  );
  return { people, searchText, isStale, isFetching, error };
}

type PeopleSearch = ReturnType<typeof usePeopleSearch>;

/** After Enter, picks the person with the typed name, or the only result, as soon as the search is complete. */
function usePickOnEnter({ people, isStale }: PeopleSearch, typed: string, choose: (key: Key | null) => void) {
  const [isPending, setPending] = useState(false);
  const match =
    people.find(({ name }) => name.toLowerCase() === typed.toLowerCase()) ??
    (people.length === 1 && !isStale ? people[0] : undefined);
  const isDecided = match !== undefined || !isStale;
  const pick = useEffectEvent(() => {
    setPending(false);
    if (match && typed !== '') choose(keyOf(match));
  });
  useEffect(() => {
    if (isPending && isDecided) pick();
  }, [isPending, isDecided]);
  return { request: () => setPending(true), cancel: () => setPending(false) };
}

interface SuggestionsProps extends Pick<PersonPickerProps, 'label' | 'kinds'> {
  readonly search: PeopleSearch;
}

function Suggestions({ label, kinds, search }: SuggestionsProps) {
  const { isAdministrator } = useViewer();
  const { searchText, isStale, isFetching, error } = search;
  return (
    <Popover className="popover">
      {/* A landmark, because the popover is outside of the landmarks of the page. */}
      <section aria-label={`Suggestions for ${label}`}>
        <ListBox<PickedPerson & { key: string }>
          className="menu"
          renderEmptyState={() => (
            <p className="person-picker-none">
              {isFetching || isStale
                ? 'Searching…'
                : explainEmpty(searchText, error !== null, isAdministrator || kinds === 'groups')}
            </p>
          )}
        >
          {({ key, kind, name }) => (
            <ListBoxItem id={key} textValue={name} className="menu-item">
              <Icon name={kind} />
              <Text slot="label">
                <Name>{name}</Name>
              </Text>
              {kinds === 'usersAndGroups' && kind === 'group' && <span className="soft">group</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </section>
    </Popover>
  );
}

interface PickerInputProps {
  readonly placeholder: string | undefined;
  /** Called when no suggestion is highlighted. */
  readonly onEnter: () => void;
}

/** Enter must not clear the typed text. */
function PickerInput({ placeholder, onEnter }: PickerInputProps) {
  const state = use(ComboBoxStateContext);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !state?.isOpen || state.selectionManager.focusedKey !== null) return;
    event.preventDefault();
    event.stopPropagation();
    if (!isComposing(event)) onEnter();
  };
  return (
    <Input
      className="input"
      {...(placeholder === undefined ? {} : { placeholder })}
      onKeyDownCapture={onKeyDown}
    />
  );
}

function peopleOf(response: PeopleResponse | undefined): PickedPerson[] {
  const users = response?.users?.items ?? (response?.user ? [response.user] : []);
  return [
    ...users.map(({ id, username }) => ({ kind: 'user', id, name: username }) as const),
    ...(response?.groups?.items ?? []).map(({ id, name }) => ({ kind: 'group', id, name }) as const),
  ];
}

function keyOf({ kind, id }: PickedPerson): string {
  return `${kind}:${id}`;
}

function explainEmpty(searchText: string, hasFailed: boolean, findsParts: boolean): string {
  if (hasFailed) return 'The search failed. Try another name.';
  if (searchText === '') return findsParts ? 'Enter a name.' : 'Enter the full user name.';
  return findsParts
    ? `No match for “${searchText}”.`
    : `No user has exactly the name “${searchText}”. Enter the full user name.`;
}
