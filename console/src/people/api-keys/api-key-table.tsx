/** The table of API keys. The name of a key opens its details: its start, its networks and who created it. */

import { Button as AriaButton } from 'react-aria-components';
import { useMemo, useState, type ReactNode } from 'react';
import { setQuery, useLocation } from '../../router.tsx';
import { LevelChip } from '../../ui/access-level.tsx';
import { Button } from '../../ui/button.tsx';
import { actionsColumn, DataTable, type TableColumn, type TableList } from '../../ui/data-table.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Name } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { idOf } from '../people-data.tsx';
import { UserLink } from '../user-link.tsx';
import { ApiKeyDetails, KeyFolder, KeyState, LastUse } from './api-key-details.tsx';
import type { ApiKeyRow } from './api-keys.ts';
import { RevokeApiKeyDialog } from './revoke-dialog.tsx';

interface ApiKeyTableProps {
  readonly label: string;
  readonly list: TableList<ApiKeyRow>;
  readonly empty: ReactNode;
  readonly showsUsers?: boolean;
}

const isActive = ({ state }: ApiKeyRow) => state === 'ACTIVE';
const renderDetails = (key: ApiKeyRow) => <ApiKeyDetails apiKey={key} />;

export function ApiKeyTable({ label, list, empty, showsUsers = false }: ApiKeyTableProps) {
  const openId = useLocation().query.get('apiKey');
  const [revoking, setRevoking] = useState<readonly ApiKeyRow[]>([]);
  const openKeys = useMemo(() => new Set(openId === null ? [] : [openId]), [openId]);
  const columns = useMemo(
    () => createColumns({ showsUsers, openId, revoke: (key) => setRevoking([key]) }),
    [showsUsers, openId],
  );
  return (
    <>
      <DataTable
        label={label}
        columns={columns}
        list={list}
        keyOf={idOf}
        empty={empty}
        loadingLines={2}
        details={renderDetails}
        openKeys={openKeys}
        isSelectable={isActive}
        bulkActions={(keys) => (
          <Button size="small" icon="close" onPress={() => setRevoking(keys)}>
            Revoke…
          </Button>
        )}
      />
      {revoking.length > 0 && <RevokeApiKeyDialog keys={revoking} onClose={() => setRevoking([])} />}
    </>
  );
}

interface ColumnOptions {
  readonly showsUsers: boolean;
  readonly openId: string | null;
  readonly revoke: (key: ApiKeyRow) => void;
}

const wide = 640;

function createColumns({ showsUsers, openId, revoke }: ColumnOptions): readonly TableColumn<ApiKeyRow>[] {
  const user: TableColumn<ApiKeyRow> = {
    id: 'user',
    label: 'User',
    minTableWidth: wide,
    render: (key) => <UserLink user={key.user} />,
  };
  return [
    ...(showsUsers ? [user] : []),
    {
      id: 'name',
      label: 'Name',
      isRowHeader: true,
      render: (key) => <KeyName apiKey={key} showsUser={showsUsers} isOpen={key.id === openId} />,
    },
    { id: 'level', label: 'Level', minTableWidth: wide, render: (key) => <KeyLevelChip apiKey={key} /> },
    { id: 'folder', label: 'Folder', minTableWidth: wide, render: (key) => <KeyFolder apiKey={key} /> },
    { id: 'state', label: 'State', minTableWidth: wide, render: (key) => <KeyState apiKey={key} /> },
    {
      id: 'expires',
      label: 'Expires',
      minTableWidth: wide,
      render: ({ expiresAt }) =>
        expiresAt === null ? <span className="soft">Never</span> : <Time at={expiresAt} isDeadline />,
    },
    { id: 'used', label: 'Last used', minTableWidth: wide, render: (key) => <LastUse apiKey={key} /> },
    actionsColumn(
      (key) =>
        isActive(key) && (
          <Button
            size="small"
            aria-label={`Revoke ${key.name} of ${key.user.username}`}
            onPress={() => revoke(key)}
          >
            Revoke…
          </Button>
        ),
    ),
  ];
}

function KeyLevelChip({ apiKey: { level, isAdministrator } }: { apiKey: ApiKeyRow }) {
  return isAdministrator ? (
    <span className="label-chip danger">Administrator</span>
  ) : (
    <LevelChip level={level} />
  );
}

interface KeyNameProps {
  readonly apiKey: ApiKeyRow;
  readonly showsUser: boolean;
  readonly isOpen: boolean;
}

function KeyName({ apiKey, showsUser, isOpen }: KeyNameProps) {
  const { id, name } = apiKey;
  return (
    <>
      <AriaButton
        className="people-disclosure"
        aria-expanded={isOpen}
        onPress={() => setQuery({ apiKey: isOpen ? null : id })}
      >
        <Icon name="chevron" className={isOpen ? 'turned' : ''} />
        <Name>{name}</Name>
      </AriaButton>
      <p className="narrow-only soft people-more">
        {showsUser && (
          <>
            <UserLink user={apiKey.user} /> ·{' '}
          </>
        )}
        <KeyLevelChip apiKey={apiKey} /> <KeyState apiKey={apiKey} />
      </p>
      <p className="narrow-only soft people-more">
        Last used: <LastUse apiKey={apiKey} />
      </p>
    </>
  );
}
