/** The GraphQL explorer: GraphiQL's editors with examples. Queries run as the viewer. */

import '@graphiql/react/setup-workers/vite';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import './explorer.css';
import { DOC_EXPLORER_PLUGIN, DocExplorerStore } from '@graphiql/plugin-doc-explorer';
import { HistoryStore } from '@graphiql/plugin-history';
import { GraphiQLProvider, Tooltip } from '@graphiql/react';
import { useMemo, type ComponentProps } from 'react';
import { apiRoot } from '../console-address.ts';
import { useGraph } from '../graph/use-graph.ts';
import { useViewer } from '../session/session.tsx';
import { Loading } from '../ui/states.tsx';
import { editorThemes, useActiveTheme } from './editor-theme.ts';
import { exampleIdsDocument, readExampleIds, formatExample, type ExampleIdsResponse } from './example.ts';
import { examples } from './examples.ts';
import { fetchGraph } from './fetcher.ts';
import { createQueryStorage } from './query-storage.ts';
import { queryHistory } from './query-history.tsx';
import { Workbench } from './workbench.tsx';

/** The cast of `fetchGraph` to this type is safe: the type allows `subscribe` with functions, but GraphiQL passes only an observer. */
type Fetcher = ComponentProps<typeof GraphiQLProvider>['fetcher'];

/** The tabs that a new user sees. */
const firstExampleIds = ['who-am-i', 'tree', 'changes'];
const plugins = [DOC_EXPLORER_PLUGIN, queryHistory];

export function ExplorerScreen() {
  const { data, isPending } = useGraph<ExampleIdsResponse>(
    ['explorer'],
    exampleIdsDocument,
    {},
    { staleTime: Infinity },
  );
  return (
    <main className="explorer">
      <h1 className="visually-hidden">Explorer</h1>
      {isPending ? <Loading lines={8} /> : <Explorer answer={data} />}
    </main>
  );
}

function Explorer({ answer }: { answer: ExampleIdsResponse | undefined }) {
  const { id } = useViewer();
  const theme = useActiveTheme();
  const storage = useMemo(() => createQueryStorage(`${apiRoot}:${id}`, openStorage()), [id]);
  const exampleIds = useMemo(() => readExampleIds(answer), [answer]);
  const defaultTabs = useMemo(
    () =>
      examples
        .filter((example) => firstExampleIds.includes(example.id))
        .map((one) => formatExample(one, exampleIds)),
    [exampleIds],
  );
  return (
    <GraphiQLProvider
      key={id}
      fetcher={fetchGraph as Fetcher}
      storage={storage}
      plugins={plugins}
      referencePlugin={DOC_EXPLORER_PLUGIN}
      defaultTabs={defaultTabs}
      defaultTheme={theme}
      editorTheme={editorThemes}
    >
      <HistoryStore>
        <DocExplorerStore>
          <Tooltip.Provider>
            <Workbench exampleIds={exampleIds} theme={theme} />
          </Tooltip.Provider>
        </DocExplorerStore>
      </HistoryStore>
    </GraphiQLProvider>
  );
}

function openStorage(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}
