/** The dialog to revoke one API key, or several one after the other. */

import { revokeApiKey } from '../../actions/api-key-actions.ts';
import type { BulkAction } from '../../actions/bulk.ts';
import { updateItemsOptimistically } from '../../actions/optimistic-update.ts';
import { peopleQueries } from '../../graph/use-graph.ts';
import { BulkDialog } from '../../ui/dialog.tsx';
import { Name } from '../../ui/text.tsx';
import { apiKeysKey, type ApiKeyRow } from './api-keys.ts';

interface RevokeDialogProps {
  readonly keys: readonly ApiKeyRow[];
  readonly onClose: () => void;
}

export function RevokeApiKeyDialog({ keys, onClose }: RevokeDialogProps) {
  const [first] = keys;
  const isOne = keys.length === 1;
  const action: BulkAction<ApiKeyRow> = {
    taskOf: (key) => ({
      action: revokeApiKey,
      variables: { input: { id: key.id } },
      staleQueries: peopleQueries,
      optimisticUpdate: () => showAsRevoked(key),
    }),
    doneText: (done) =>
      done.length === 1
        ? `Revoked the API key ${nameOf(done[0]!.item)}`
        : `Revoked ${done.length.toLocaleString('en')} API keys`,
  };
  return (
    <BulkDialog
      title={isOne ? 'Revoke API key' : `Revoke ${keys.length} API keys`}
      verb="Revoke"
      isDanger
      items={keys}
      nameOf={nameOf}
      action={action}
      call={isOne && first ? action.taskOf(first) : undefined}
      onClose={onClose}
    >
      {isOne && first ? (
        <p>
          Programs that use the key{' '}
          <strong>
            <Name>{first.name}</Name>
          </strong>{' '}
          of <Name>{first.user.username}</Name> lose access immediately. You cannot undo this.
        </p>
      ) : (
        <p>Programs that use these keys lose access immediately. You cannot undo this.</p>
      )}
    </BulkDialog>
  );
}

function nameOf({ name, user }: ApiKeyRow): string {
  return `“${name}” of ${user.username}`;
}

function showAsRevoked({ id, user }: ApiKeyRow): () => void {
  const rollbacks = [null, user.id].map((userId) =>
    updateItemsOptimistically<ApiKeyRow>(apiKeysKey(userId), (key) =>
      key.id === id ? { ...key, state: 'REVOKED' } : key,
    ),
  );
  return () => rollbacks.forEach((rollback) => rollback());
}
