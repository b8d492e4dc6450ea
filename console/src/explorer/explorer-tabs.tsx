/** The open queries as tabs. The arrow keys move between them, Delete closes the active one. */

import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect, useRef, type KeyboardEvent } from 'react';
import { IconButton } from '../ui/button.tsx';

export const panelId = 'explorer-panel';
export const getTabId = (index: number): string => `explorer-tab-${index}`;

export function ExplorerTabs() {
  const { tabs, activeTabIndex } = useGraphiQL(({ tabs, activeTabIndex }) => ({ tabs, activeTabIndex }));
  const actions = useGraphiQLActions();
  const list = useRef<HTMLDivElement>(null);
  const last = tabs.length - 1;

  useEffect(() => {
    document
      .getElementById(getTabId(activeTabIndex))
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [activeTabIndex, tabs.length]);

  const show = (index: number) => {
    actions.changeTab(index);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[index]?.focus();
  };
  const handleKey = (event: KeyboardEvent) => {
    const to: Record<string, number> = {
      ArrowRight: activeTabIndex === last ? 0 : activeTabIndex + 1,
      ArrowLeft: activeTabIndex === 0 ? last : activeTabIndex - 1,
      Home: 0,
      End: last,
    };
    const index = to[event.key];
    if (index !== undefined) {
      event.preventDefault();
      show(index);
    } else if (event.key === 'Delete' && last > 0) {
      actions.closeTab(activeTabIndex);
      show(Math.max(activeTabIndex - 1, 0));
    }
  };

  return (
    <div className="explorer-tab-bar">
      <div ref={list} className="tab-list" role="tablist" aria-label="Open queries" onKeyDown={handleKey}>
        {tabs.map(({ id, title }, index) => (
          <Tab
            key={id}
            title={title}
            index={index}
            isActive={index === activeTabIndex}
            onSelect={() => actions.changeTab(index)}
          />
        ))}
      </div>
      <IconButton label="New tab" icon="plus" onPress={() => actions.addTab()} />
      <IconButton
        label="Close this tab"
        icon="close"
        isDisabled={last === 0}
        onPress={() => actions.closeTab(activeTabIndex)}
      />
    </div>
  );
}

interface TabProps {
  readonly title: string;
  readonly index: number;
  readonly isActive: boolean;
  readonly onSelect: () => void;
}

function Tab({ title, index, isActive, onSelect }: TabProps) {
  return (
    <button
      type="button"
      role="tab"
      className="tab"
      id={getTabId(index)}
      aria-selected={isActive}
      aria-controls={panelId}
      tabIndex={isActive ? 0 : -1}
      data-selected={isActive || undefined}
      onClick={onSelect}
    >
      {title === '<untitled>' ? 'Untitled' : title}
    </button>
  );
}
