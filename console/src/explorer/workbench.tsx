/** The explorer's editors with toolbar, tabs, response and side panel. */

import { DOC_EXPLORER_PLUGIN } from '@graphiql/plugin-doc-explorer';
import {
  QueryEditor,
  ResponseEditor,
  useGraphiQL,
  useGraphiQLActions,
  useMonaco,
  VariableEditor,
} from '@graphiql/react';
import { useEffect, Children, type ReactNode } from 'react';
import type { Call } from '../actions/action.ts';
import { Button, IconButton, Spinner } from '../ui/button.tsx';
import { CopyAs } from '../ui/copy.tsx';
import { Loading } from '../ui/states.tsx';
import { redactCall } from './redact-query.ts';
import { useEditorTheme, type ActiveTheme } from './editor-theme.ts';
import { formatExample, type Example, type ExampleIds, exampleGroups } from './example.ts';
import { ExplorerTabs, panelId, getTabId } from './explorer-tabs.tsx';
import { queryHistory } from './query-history.tsx';
import { Divider, useDividerPosition } from '../ui/divider.tsx';
import {
  Button as AriaButton,
  Header,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
} from 'react-aria-components';
import { useViewer } from '../session/session.tsx';
import { Icon } from '../ui/icons.tsx';
import { examples } from './examples.ts';

export function Workbench({ exampleIds, theme }: { exampleIds: ExampleIds; theme: ActiveTheme }) {
  const hasEditor = useMonaco(({ monaco }) => Boolean(monaco));
  const activeTabIndex = useGraphiQL((state) => state.activeTabIndex);
  const fetchError = useGraphiQL((state) => state.fetchError);
  useEditorTheme(theme);
  useEditorOptions();

  return (
    <>
      <Toolbar exampleIds={exampleIds} />
      <ExplorerTabs />
      <div className="explorer-body">
        <div
          className="explorer-panel graphiql-container"
          role="tabpanel"
          id={panelId}
          aria-labelledby={getTabId(activeTabIndex)}
        >
          {hasEditor ? (
            <SplitPanes name="explorer-answer" label="Width of the query">
              <SplitPanes name="explorer-variables" label="Height of the query" isVertical initial={68}>
                <section className="explorer-part" aria-label="Query">
                  <QueryEditor />
                </section>
                <section className="explorer-part" aria-label="Variables">
                  <h2 className="explorer-part-title">Variables</h2>
                  <VariableEditor />
                </section>
              </SplitPanes>
              <div className="explorer-part explorer-answer">
                <h2 className="explorer-part-title">
                  Response <RunStatus />
                </h2>
                {fetchError && (
                  <p className="problem" role="alert">
                    Cannot load the schema. Queries work, but completion and documentation are not available.
                  </p>
                )}
                <ResponseEditor />
              </div>
            </SplitPanes>
          ) : (
            <Loading lines={8} label="Loading the editor" />
          )}
        </div>
        <SidePanel />
      </div>
    </>
  );
}

function Toolbar({ exampleIds }: { exampleIds: ExampleIds }) {
  const actions = useGraphiQLActions();
  const { isFetching, isFollowing, visiblePlugin, queryEditor, variableEditor } = useGraphiQL((state) => ({
    isFetching: state.isFetching,
    isFollowing: state.subscription !== null,
    visiblePlugin: state.visiblePlugin,
    queryEditor: state.queryEditor,
    variableEditor: state.variableEditor,
  }));
  const isRunning = isFetching || isFollowing;
  const openExample = (example: Example) => {
    const { query, variables } = formatExample(example, exampleIds);
    if (queryEditor?.getValue().trim()) actions.addTab();
    queryEditor?.setValue(query);
    variableEditor?.setValue(variables);
    queryEditor?.focus();
  };
  const togglePlugin = (plugin: typeof DOC_EXPLORER_PLUGIN) =>
    actions.setVisiblePlugin(visiblePlugin === plugin ? null : plugin);

  return (
    <div className="explorer-bar" role="toolbar" aria-label="Query">
      <Button
        tone="primary"
        icon={isRunning ? 'close' : 'play'}
        onPress={() => (isRunning ? actions.stop() : void actions.run())}
      >
        {isRunning ? 'Stop' : 'Run'}
      </Button>
      <ExampleMenu onChoose={openExample} />
      <IconButton label="Format the query" icon="list" onPress={() => void actions.prettifyEditors()} />
      <CopyQuery />
      <span className="grow" />
      <Button
        tone="quiet"
        icon="clock"
        aria-pressed={visiblePlugin === queryHistory}
        onPress={() => togglePlugin(queryHistory)}
      >
        History
      </Button>
      <Button
        tone="quiet"
        icon="book"
        aria-pressed={visiblePlugin === DOC_EXPLORER_PLUGIN}
        onPress={() => togglePlugin(DOC_EXPLORER_PLUGIN)}
      >
        Schema
      </Button>
    </div>
  );
}

function CopyQuery() {
  const { query, variables } = useGraphiQL(({ tabs, activeTabIndex }) => ({
    query: tabs[activeTabIndex]?.query ?? '',
    variables: tabs[activeTabIndex]?.variables ?? '',
  }));
  return <CopyAs call={createCall(query, variables)} />;
}

/** Leaves out passwords, and variables that are not valid JSON. */
function createCall(query: string, variables: string): Call {
  let parsed: object = {};
  try {
    parsed = (JSON.parse(variables || '{}') as object | null) ?? {};
  } catch {
    // The user is still typing.
  }
  const { document, variables: redacted } = redactCall(query, parsed);
  return { action: { label: 'Query', document }, variables: redacted };
}

function RunStatus() {
  const { isFetching, isFollowing } = useGraphiQL((state) => ({
    isFetching: state.isFetching,
    isFollowing: state.subscription !== null,
  }));
  return (
    <span role="status" className="explorer-running">
      {isFollowing ? (
        <span className="label-chip good">Following</span>
      ) : (
        isFetching && (
          <>
            <Spinner />
            <span className="visually-hidden">Waiting for the response</span>
          </>
        )
      )}
    </span>
  );
}

/** The side panel: the schema's documentation or the history. */
function SidePanel() {
  const plugin = useGraphiQL((state) => state.visiblePlugin);
  if (!plugin) return null;
  const Content = plugin.content;
  return (
    <aside
      className="explorer-side graphiql-container"
      aria-label={plugin === queryHistory ? 'History' : 'Schema'}
    >
      <Content />
    </aside>
  );
}

/** Applies the console's fonts and options to GraphiQL's editors. */
function useEditorOptions(): void {
  const { queryEditor, variableEditor, responseEditor } = useGraphiQL((state) => ({
    queryEditor: state.queryEditor,
    variableEditor: state.variableEditor,
    responseEditor: state.responseEditor,
  }));
  useEffect(() => {
    const fontFamily = getComputedStyle(document.documentElement).getPropertyValue('--letters-code');
    const editors = { Query: queryEditor, Variables: variableEditor, Response: responseEditor };
    for (const [ariaLabel, editor] of Object.entries(editors)) {
      editor?.updateOptions({
        ariaLabel,
        fontFamily,
        fontSize: 13,
        lineHeight: 20,
        lineNumbersMinChars: 3,
        padding: { top: ariaLabel === 'Query' ? 10 : 2 },
        // Otherwise the editor dims the last line below a readable contrast.
        renderFinalNewline: 'on',
      });
    }
  }, [queryEditor, variableEditor, responseEditor]);
}

interface SplitPanesProps {
  /** The name under which the position of the divider is stored. */
  readonly name: string;
  readonly label: string;
  /** The panes are stacked. */
  readonly isVertical?: boolean;
  /** Share of the first pane, in percent. */
  readonly initial?: number;
  readonly children: readonly [ReactNode, ReactNode];
}

function SplitPanes({ name, label, isVertical = false, initial = 50, children }: SplitPanesProps) {
  const position = useDividerPosition(name, { min: 15, max: 85, initial });
  const [first, second] = Children.toArray(children);
  return (
    <div className={`split ${isVertical ? 'vertical' : 'horizontal'}`}>
      <div className="split-first" style={{ flexGrow: position.value }}>
        {first}
      </div>
      <Divider
        className="split-bar"
        position={position}
        unit="%"
        step={5}
        label={label}
        isHorizontal={isVertical}
      />
      <div className="split-second" style={{ flexGrow: 100 - position.value }}>
        {second}
      </div>
    </div>
  );
}

function ExampleMenu({ onChoose }: { onChoose: (example: Example) => void }) {
  const { isAdministrator } = useViewer();
  const availableExamples = examples.filter(({ forAdministrators }) => isAdministrator || !forAdministrators);
  return (
    <MenuTrigger>
      <AriaButton className="button">
        <Icon name="book" />
        Examples
        <Icon name="down" />
      </AriaButton>
      <Popover className="popover explorer-examples" placement="bottom start">
        <Menu
          className="menu"
          onAction={(id) => {
            const chosenExample = availableExamples.find((example) => example.id === id);
            if (chosenExample) onChoose(chosenExample);
          }}
        >
          {exampleGroups.map((group) => {
            const groupExamples = availableExamples.filter((example) => example.group === group);
            if (groupExamples.length === 0) return null;
            return (
              <MenuSection key={group}>
                <Header className="menu-header">{group}</Header>
                {groupExamples.map(({ id, label }) => (
                  <MenuItem key={id} id={id} className="menu-item">
                    {label}
                  </MenuItem>
                ))}
              </MenuSection>
            );
          })}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
