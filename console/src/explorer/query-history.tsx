/** The history of queries, latest first. Each can be opened again or removed. */

import { useHistory, useHistoryActions } from '@graphiql/plugin-history';
import { useGraphiQL } from '@graphiql/react';
import { Button, IconButton } from '../ui/button.tsx';
import { Empty } from '../ui/states.tsx';

/** The plugin format of GraphiQL's side panel. */
export const queryHistory = { title: 'History', icon: () => null, content: QueryHistory };

function QueryHistory() {
  const items = useHistory().toReversed();
  const actions = useHistoryActions();
  const { queryEditor, variableEditor } = useGraphiQL((state) => ({
    queryEditor: state.queryEditor,
    variableEditor: state.variableEditor,
  }));
  const forget = (from: typeof items) => {
    for (const item of from) actions.deleteFromHistory(item, true);
  };
  return (
    <>
      <header className="explorer-side-header">
        <h2>History</h2>
        {items.length > 0 && (
          <Button size="small" onPress={() => forget(items)}>
            Delete all
          </Button>
        )}
      </header>
      {items.length === 0 && (
        <Empty icon="clock" title="No queries yet">
          <p>Queries that you run are stored in this browser.</p>
        </Empty>
      )}
      <ul>
        {items.map((item, at) => {
          const name = formatTitle(item);
          return (
            <li key={at} className="explorer-history-item">
              <button
                type="button"
                className="explorer-history-choice"
                onClick={() => {
                  queryEditor?.setValue(item.query ?? '');
                  variableEditor?.setValue(item.variables ?? '');
                  queryEditor?.focus();
                }}
              >
                <code>{name}</code>
              </button>
              <IconButton label={`Delete ${name}`} icon="close" onPress={() => forget([item])} />
            </li>
          );
        })}
      </ul>
    </>
  );
}

function formatTitle({ operationName, query = '' }: { operationName?: string; query?: string }): string {
  return operationName ?? query.replace(/#.*$/gm, '').replace(/\s+/g, ' ').trim();
}
