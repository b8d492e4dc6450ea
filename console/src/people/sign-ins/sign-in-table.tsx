/** The table of sign-ins and failed attempts. */

import { deviceName } from '@espalier/contract';
import { useMemo, type ReactNode } from 'react';
import { DataTable, type TableColumn, type TableList } from '../../ui/data-table.tsx';
import { Name } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { idOf } from '../people-data.tsx';
import { UserLink } from '../user-link.tsx';
import { methodLabels, resultLabels } from './sign-in-filter.ts';
import type { SignInRow } from './sign-ins.ts';

interface SignInTableProps {
  readonly label: string;
  readonly list: TableList<SignInRow>;
  readonly empty: ReactNode;
  readonly showsUsers?: boolean;
}

export function SignInTable({ label, list, empty, showsUsers = false }: SignInTableProps) {
  const columns = useMemo(() => createColumns(showsUsers), [showsUsers]);
  return <DataTable label={label} columns={columns} list={list} keyOf={idOf} empty={empty} />;
}

const wide = 640;

function createColumns(showsUsers: boolean): readonly TableColumn<SignInRow>[] {
  const user: TableColumn<SignInRow> = {
    id: 'user',
    label: 'User',
    minTableWidth: wide,
    className: 'cell-user',
    render: (signIn) => <UserName signIn={signIn} />,
  };
  return [
    {
      id: 'at',
      label: 'Time',
      minTableWidth: wide,
      className: 'cell-time',
      render: ({ at }) => <Time at={at} />,
    },
    ...(showsUsers ? [user] : []),
    {
      id: 'result',
      label: 'Result',
      isRowHeader: true,
      render: (signIn) => <Result signIn={signIn} showsUser={showsUsers} />,
    },
    {
      id: 'method',
      label: 'Method',
      minTableWidth: wide,
      className: 'people-method',
      render: ({ method }) => methodLabels[method],
    },
    {
      id: 'address',
      label: 'Address',
      minTableWidth: wide,
      className: 'number cell-address',
      render: ({ address, count }) => address ?? <span className="soft">{unknownAddress(count)}</span>,
    },
    {
      id: 'device',
      label: 'Device',
      minTableWidth: wide,
      render: ({ agent, count, method }) =>
        agent === null && (count > 1 || method === 'API_KEY') ? (
          <span className="soft">{count > 1 ? 'Several' : 'Program'}</span>
        ) : (
          <span title={agent ?? undefined}>{deviceName(agent)}</span>
        ),
    },
  ];
}

function unknownAddress(count: number): string {
  return count > 1 ? 'Several' : 'Unknown';
}

/** Links to the user, if the user still exists. */
function UserName({ signIn: { user, username, count } }: { signIn: SignInRow }) {
  if (user) return <UserLink user={user} />;
  if (username !== null) return <Name>{username}</Name>;
  return <span className="soft">{count > 1 ? 'Several or unknown' : 'Unknown name'}</span>;
}

function Result({ signIn, showsUser }: { signIn: SignInRow; showsUser: boolean }) {
  const { result, count, at, lastAt, detail, method, address } = signIn;
  return (
    <>
      <div className="people-device">
        <span className={`label-chip ${result === 'SUCCESS' ? 'good' : 'warning'}`}>
          {resultLabels[result]}
        </span>
        {count > 1 && (
          <span className="soft">
            {count.toLocaleString('en')} attempts until <Time at={lastAt} />
          </span>
        )}
      </div>
      {detail !== null && <p className="soft people-detail">{detail}</p>}
      <p className="narrow-only soft people-more">
        {showsUser && (
          <>
            <UserName signIn={signIn} /> ·{' '}
          </>
        )}
        {methodLabels[method]} · {address ?? `${unknownAddress(count)} address`} · <Time at={at} />
      </p>
    </>
  );
}
