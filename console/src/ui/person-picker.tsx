/** Chooses a user or a group by a part of the name. Who is no administrator writes user names in full: nobody else may list them. */

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
import { isComposing } from './typing.ts';
import { Icon } from './icons.tsx';
import { useDebounced } from './typing.ts';
import './person-picker.css';

export interface PickedPerson {
  readonly kind: 'user' | 'group';
  readonly id: string;
  readonly name: string;
}

export interface PersonPickerProps {
  readonly label: string;
  readonly kinds: 'users' | 'groups' | 'usersAndGroups';
  readonly value: PickedPerson | null;
  readonly onChange: (person: PickedPerson | null) => void;
  /** Ids that are not offered. */
  readonly excludedIds?: readonly string[];
  readonly placeholder?: string;
  readonly autoFocus?: boolean;
  readonly isLabelHidden?: boolean;
}

const offered = 20;

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

const namedDocument = /* GraphQL */ `
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

interface FoundUser {
  readonly id: string;
  readonly username: string;
}

interface Found {
  readonly users?: { readonly items: readonly FoundUser[] };
  readonly user?: FoundUser | null;
  readonly groups?: { readonly items: readonly { readonly id: string; readonly name: string }[] };
}

export function PersonPicker(props: PersonPickerProps) {
  const { label, kinds, value, onChange, excludedIds = [], placeholder, autoFocus, isLabelHidden } = props;
  const { isAdministrator } = useViewer();
  const [text, setText] = useState(value?.name ?? '');
  const [shownFor, setShownFor] = useState(value);
  if (shownFor !== value) {
    setShownFor(value);
    setText(value?.name ?? '');
  }

  const typed = text === value?.name ? '' : text.trim();
  const asked = useDebounced(typed);
  const withGroups = kinds !== 'users';
  const withUsers = kinds !== 'groups' && (isAdministrator || asked !== '');
  const { data, error, isFetching, isPlaceholderData } = useGraph<Found>(
    ['people', 'picker', kinds, asked],
    isAdministrator ? listDocument : namedDocument,
    { text: asked, first: offered, withUsers, withGroups },
    { placeholderData: keepPreviousData },
  );
  const isBehind = isPlaceholderData || asked !== typed;
  const people = peopleIn(data).filter(
    ({ id, name }) =>
      !excludedIds.includes(id) &&
      // What was found for another text: whoever presses Enter at once must not choose somebody else.
      (!isBehind || name.toLowerCase().includes(typed.toLowerCase())),
  );
  const items = value && typed === '' ? [value, ...people.filter(({ id }) => id !== value.id)] : people;

  /** Also told, with what is chosen already, when the field is left. */
  const choose = (key: Key | null) => {
    const person = [...items, ...(value ? [value] : [])].find((one) => keyOf(one) === key) ?? null;
    setText(person?.name ?? '');
    if (person?.id !== value?.id) onChange(person);
  };
  /** By Enter: whoever is named in full, or is the only one found, as soon as that is known. */
  const [isAwaited, setAwaited] = useState(false);
  const named =
    people.find(({ name }) => name.toLowerCase() === typed.toLowerCase()) ??
    (people.length === 1 && !isBehind ? people[0] : undefined);
  const isKnown = named !== undefined || !isBehind;
  const take = useEffectEvent(() => {
    setAwaited(false);
    if (named && typed !== '') choose(keyOf(named));
  });
  useEffect(() => {
    if (isAwaited && isKnown) take();
  }, [isAwaited, isKnown]);
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
        setAwaited(false);
        if (next === '' && value) onChange(null);
      }}
    >
      {!isLabelHidden && <Label>{label}</Label>}
      <div className="person-picker-input">
        <PickerInput placeholder={placeholder} onEnter={() => setAwaited(true)} />
        <AriaButton className="icon-button quiet">
          <Icon name="down" />
        </AriaButton>
      </div>
      {!isAdministrator && kinds !== 'groups' && (
        <Text slot="description">
          {withGroups ? 'A user name in full, or a part of a group’s name.' : 'The user name in full.'}
        </Text>
      )}
      <Popover className="popover">
        {/* A landmark, since it lies outside of the page's own. */}
        <section aria-label={`Suggestions for ${label}`}>
          <ListBox<PickedPerson & { key: string }>
            className="menu"
            renderEmptyState={() => (
              <p className="person-picker-none">
                {isFetching || isBehind
                  ? 'Searching…'
                  : whyEmpty(asked, error !== null, isAdministrator || kinds === 'groups')}
              </p>
            )}
          >
            {({ key, kind, name }) => (
              <ListBoxItem id={key} textValue={name} className="menu-item">
                <Icon name={kind} />
                <Text slot="label">{name}</Text>
                {kinds === 'usersAndGroups' && kind === 'group' && <span className="soft">group</span>}
              </ListBoxItem>
            )}
          </ListBox>
        </section>
      </Popover>
    </ComboBox>
  );
}

interface PickerInputProps {
  readonly placeholder: string | undefined;
  /** Where nobody is marked in the list. */
  readonly onEnter: () => void;
}

/** Enter does not take away what was typed. */
function PickerInput({ placeholder, onEnter }: PickerInputProps) {
  const list = use(ComboBoxStateContext);
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !list?.isOpen || list.selectionManager.focusedKey !== null) return;
    event.preventDefault();
    event.stopPropagation();
    if (!isComposing(event)) onEnter();
  };
  return (
    <Input
      className="input"
      {...(placeholder === undefined ? {} : { placeholder })}
      onKeyDownCapture={press}
    />
  );
}

function peopleIn(found: Found | undefined): PickedPerson[] {
  const users = found?.users?.items ?? (found?.user ? [found.user] : []);
  return [
    ...users.map(({ id, username }) => ({ kind: 'user', id, name: username }) as const),
    ...(found?.groups?.items ?? []).map(({ id, name }) => ({ kind: 'group', id, name }) as const),
  ];
}

function keyOf({ kind, id }: PickedPerson): string {
  return `${kind}:${id}`;
}

function whyEmpty(asked: string, hasFailed: boolean, findsParts: boolean): string {
  if (hasFailed) return 'The search failed. Try another name.';
  if (asked === '') return findsParts ? 'Write a name.' : 'Write the user name in full.';
  return findsParts
    ? `Nothing is called “${asked}”.`
    : `Nobody is called exactly “${asked}”. Write the user name in full.`;
}
