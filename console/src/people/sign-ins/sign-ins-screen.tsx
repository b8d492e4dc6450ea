/** The screen of all sign-ins and failed attempts, with its filters. */

import { useMemo } from 'react';
import { setQuery, useLocation } from '../../router.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyAs } from '../../ui/copy.tsx';
import { DateTimeField } from '../../ui/date-time-field.tsx';
import { Select } from '../../ui/fields.tsx';
import { PersonPicker } from '../../ui/person-picker.tsx';
import { Empty } from '../../ui/states.tsx';
import { useNamedUser } from '../people-data.tsx';
import {
  allMethods,
  allResults,
  createSignInCall,
  methodLabels,
  readFilter,
  resultLabels,
  toQuery,
  type SignInFilter,
} from './sign-in-filter.ts';
import { SignInTable } from './sign-in-table.tsx';
import { useSignIns } from './sign-ins.ts';
import '../people.css';

export function SignInsScreen() {
  const { query } = useLocation();
  const filterKey = JSON.stringify(readFilter(query));
  // Keeps the object identity while the filter is unchanged.
  const filter = useMemo(() => JSON.parse(filterKey) as SignInFilter, [filterKey]);
  const list = useSignIns(filter);
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <main className="page">
      <header className="page-header">
        <h1>Sign-ins</h1>
        {list.data && <span className="soft number">{list.data.totalCount.toLocaleString('en')}</span>}
        <span className="grow" />
        <CopyAs call={createSignInCall(filter)} />
      </header>
      <Filters filter={filter} />
      {isFiltered && (
        <div className="toolbar">
          <Button size="small" tone="quiet" icon="close" onPress={() => setQuery(toQuery({}))}>
            Clear filters
          </Button>
        </div>
      )}
      <SignInTable
        key={filterKey}
        label="Sign-ins, the newest first"
        list={list}
        showsUsers
        empty={
          <Empty icon="clock" title={isFiltered ? 'No matching sign-ins' : 'No sign-ins'}>
            <p>{isFiltered ? 'Change or clear the filters.' : 'Sign-ins and failed attempts appear here.'}</p>
          </Empty>
        }
      />
    </main>
  );
}

const methodOptions = [
  { id: 'ANY', label: 'Any method' },
  ...allMethods.map((id) => ({ id, label: methodLabels[id] })),
] as const;
const resultOptions = [
  { id: 'ANY', label: 'Any result' },
  { id: 'FAILED', label: 'Failed' },
  ...allResults.map((id) => ({ id, label: resultLabels[id] })),
] as const;

function Filters({ filter }: { filter: SignInFilter }) {
  const user = useNamedUser(filter.userId ?? null);
  const set = (changes: { [Name in keyof SignInFilter]: SignInFilter[Name] | undefined }) => {
    const fields = Object.entries({ ...filter, ...changes }).filter(([, value]) => value !== undefined);
    setQuery(toQuery(Object.fromEntries(fields)));
  };
  return (
    <section className="card people-filters" aria-label="Filters">
      <PersonPicker
        label="User"
        kinds="users"
        placeholder="Any user"
        value={user && { kind: 'user', id: user.id, name: user.username }}
        onChange={(person) => set({ userId: person?.id })}
      />
      <Select
        label="Result"
        value={filter.result ?? 'ANY'}
        options={resultOptions}
        onChange={(result) => set({ result: result === 'ANY' ? undefined : result })}
      />
      <Select
        label="Method"
        value={filter.method ?? 'ANY'}
        options={methodOptions}
        onChange={(method) => set({ method: method === 'ANY' ? undefined : method })}
      />
      <DateTimeField label="From" at={filter.from} onChange={(at) => set({ from: at })} />
      <DateTimeField label="Until" at={filter.until} onChange={(at) => set({ until: at })} />
    </section>
  );
}
