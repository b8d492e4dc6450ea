/**
 * The table of the console, for lists that are read page by page and for lists that are already loaded. It has sortable
 * columns, columns for wide tables only, checkboxes with a bar of actions, details below a row, and states for loading,
 * empty and failed lists. It renders one page of rows, however many are loaded.
 */

import {
  Cell,
  Column,
  Row,
  Table,
  TableBody,
  TableHeader,
  type Key,
  type SortDescriptor,
} from 'react-aria-components';
import {
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
  type SyntheticEvent,
} from 'react';
import { rowsPerPage } from '../graph/pages.ts';
import { describeProblem } from '../graph/problem.ts';
import { Button } from './button.tsx';
import { SelectionCheckbox } from './fields.tsx';
import { Icon } from './icons.tsx';
import { Pager, type PageControl } from './pager.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { Failed, Loading } from './states.tsx';
import { formatName } from './text.tsx';
import './data-table.css';

export interface TableColumn<Item> {
  readonly id: string;
  readonly label: string;
  /** For columns of buttons. */
  readonly isLabelHidden?: boolean;
  /** The column that names the row. */
  readonly isRowHeader?: boolean;
  readonly isSortable?: boolean;
  /** Narrower tables hide the column. */
  readonly minTableWidth?: number;
  readonly className?: string;
  readonly render: (item: Item) => ReactNode;
}

/** The last column, with the buttons of a row. */
export function actionsColumn<Item>(render: (item: Item) => ReactNode): TableColumn<Item> {
  return { id: 'actions', label: 'Actions', isLabelHidden: true, className: 'cell-actions', render };
}

/** The list of a table: the result of `usePages` or `useAllPages`, or similar. */
export interface TableList<Item> {
  readonly data:
    | readonly Item[]
    | { readonly items: readonly Item[]; readonly totalCount?: number }
    | undefined;
  readonly error?: Error | null;
  readonly refetch?: () => unknown;
  /** The rows belong to the previous filter. The new response is pending. */
  readonly isPreviousData?: boolean;
  readonly hasMore?: boolean;
  readonly isReadingMore?: boolean;
  readonly readMore?: () => void;
}

interface DataTableProps<Item extends object> {
  /** The accessible name. */
  readonly label: string;
  readonly columns: readonly TableColumn<Item>[];
  readonly list: TableList<Item>;
  readonly keyOf: (item: Item) => string;
  /** Replaces the table while it has no rows. */
  readonly empty: ReactNode;
  readonly loadingLines?: number;
  readonly sort?: SortDescriptor;
  readonly onSort?: (sort: SortDescriptor) => void;
  /** Adds checkboxes. Returns the actions for the selected items. */
  readonly bulkActions?: (selected: readonly Item[], clear: () => void) => ReactNode;
  /** Items for which it returns false have no checkbox. */
  readonly isSelectable?: (item: Item) => boolean;
  /** Renders below the rows with the keys `openKeys`. */
  readonly details?: (item: Item) => ReactNode;
  readonly openKeys?: ReadonlySet<string>;
  /** Called after a click on a row, unless it selects text or is on a link or button, and after Enter on a focused row. */
  readonly onRowClick?: (item: Item) => void;
  readonly rowClass?: (item: Item) => string | undefined;
  /** For a list that contains only the rows of one page. Without it, the table turns the pages of the list itself. */
  readonly pages?: PageControl;
  /** Called with the number of the page that the table turned to, starting at 0. */
  readonly onPageTurned?: (page: number) => void;
}

const noKeys: ReadonlySet<string> = new Set();

export function DataTable<Item extends object>(props: DataTableProps<Item>) {
  const { list, empty, loadingLines = 4 } = props;
  const { data, error, refetch } = list;
  if (data === undefined) {
    return error ? <Failed error={error} retry={() => void refetch?.()} /> : <Loading lines={loadingLines} />;
  }
  const rows = 'items' in data ? data.items : data;
  const isEmpty = rows.length === 0 && !list.hasMore && !props.pages?.totalCount;
  return (
    <>
      {isEmpty ? empty : <Pages {...props} rows={rows} />}
      {error && (
        <div className="problem table-problem" role="alert">
          {describeProblem(error).text}
          <Button size="small" icon="refresh" onPress={() => void refetch?.()}>
            Try again
          </Button>
        </div>
      )}
    </>
  );
}

interface RowsProps<Item extends object> extends DataTableProps<Item> {
  readonly rows: readonly Item[];
}

/** One page of the rows, and the buttons to turn pages. */
function Pages<Item extends object>(props: RowsProps<Item>) {
  const top = useRef<HTMLDivElement>(null);
  const { rows, list, pages, onPageTurned } = props;
  const { hasMore = false, isReadingMore = false, readMore, data } = list;
  const [requested, setRequested] = useState(0);
  const page = pages?.page ?? Math.min(requested, Math.max(0, Math.ceil(rows.length / rowsPerPage) - 1));
  const start = pages ? 0 : page * rowsPerPage;
  const visible = useMemo(() => rows.slice(start, start + rowsPerPage), [rows, start]);
  const totalCount = pages?.totalCount ?? (data && 'items' in data ? data.totalCount : rows.length);
  const turnTo = (next: number) => {
    if (pages) return pages.turnTo(next);
    setRequested(next);
    onPageTurned?.(next);
  };
  const isLoaded = (page + 1) * rowsPerPage < (pages?.totalCount ?? rows.length);
  const next = () => {
    if (!isLoaded) readMore?.();
    // If the page is not full, the rows that `readMore` reads appear on the same page.
    if (isLoaded || visible.length === rowsPerPage) turnTo(page + 1);
  };
  const lastPage = useRef(page);
  useEffect(() => {
    if (lastPage.current !== page) top.current?.scrollIntoView({ block: 'nearest' });
    lastPage.current = page;
  }, [page]);
  return (
    <>
      <div ref={top} className="table-top" />
      <Rows {...props} key={page} rows={visible} />
      {(page > 0 || isLoaded || hasMore) && (
        <Pager
          page={page}
          count={visible.length}
          totalCount={totalCount}
          isReading={isReadingMore}
          next={isLoaded || hasMore ? next : undefined}
          turnTo={turnTo}
          hasLast={pages !== undefined}
        />
      )}
    </>
  );
}

/** The details of an item, as a row of their own below the row of the item. */
class Details<Item> {
  readonly item: Item;
  constructor(item: Item) {
    this.item = item;
  }
}

function Rows<Item extends object>(props: RowsProps<Item>) {
  const { label, columns, list, rows, keyOf, sort, onSort, bulkActions, openKeys = noKeys } = props;
  const { frame, width } = useFrameWidth();
  const selection = useSelection(props);
  const visible = columns.filter(({ minTableWidth = 0 }) => width >= minTableWidth);
  const items = useMemo(
    () => rows.flatMap((row) => (openKeys.has(keyOf(row)) ? [row, new Details(row)] : [row])),
    [rows, openKeys, keyOf],
  );
  const hasSelection = bulkActions !== undefined;
  return (
    <>
      <div
        className={width < narrowWidth ? 'table-frame narrow' : 'table-frame'}
        ref={frame}
        aria-busy={list.isPreviousData === true}
      >
        <Table
          className="data-table"
          aria-label={formatName(label)}
          {...(hasSelection && selection.tableProps)}
          {...(sort && { sortDescriptor: sort })}
          {...(onSort && { onSortChange: onSort })}
        >
          <TableHeader>
            {hasSelection && (
              <Column className="table-check">
                <SelectionCheckbox />
              </Column>
            )}
            {visible.map((column) => (
              <Heading key={column.id} column={column} />
            ))}
          </TableHeader>
          <TableBody
            items={items}
            dependencies={[columns, visible.length, hasSelection, props.rowClass, props.onRowClick]}
          >
            {(item: Item | Details<Item>) => renderRow(item, visible, props)}
          </TableBody>
        </Table>
      </div>
      {bulkActions && selection.selected.length > 0 && (
        <SelectionBar label="Selected rows" count={selection.selected.length} onClear={selection.clear}>
          {bulkActions(selection.selected, selection.clear)}
        </SelectionBar>
      )}
    </>
  );
}

/** Narrower tables show the elements of the class `narrow-only`. */
const narrowWidth = 640;

function Heading<Item>({ column }: { column: TableColumn<Item> }) {
  const { id, label, isLabelHidden, isRowHeader, isSortable, className } = column;
  return (
    <Column
      id={id}
      textValue={label}
      {...(isRowHeader && { isRowHeader })}
      {...(isSortable && { allowsSorting: true })}
      {...(className !== undefined && { className })}
    >
      {({ sortDirection }) => (
        <span className={isLabelHidden ? 'visually-hidden' : 'table-heading'}>
          {label}
          {sortDirection && <Icon name="down" className={sortDirection === 'ascending' ? 'up' : ''} />}
        </span>
      )}
    </Column>
  );
}

function renderRow<Item extends object>(
  item: Item | Details<Item>,
  columns: readonly TableColumn<Item>[],
  { keyOf, bulkActions, details, onRowClick, rowClass, isSelectable = () => true }: DataTableProps<Item>,
) {
  const hasSelection = bulkActions !== undefined;
  if (item instanceof Details) {
    return (
      <Row id={detailsKey(keyOf(item.item))} className="table-details">
        <Cell colSpan={columns.length + (hasSelection ? 1 : 0)}>
          <div className="table-cell" {...contentEvents()}>
            {details?.(item.item)}
          </div>
        </Cell>
      </Row>
    );
  }
  const events = contentEvents(onRowClick && (() => onRowClick(item)));
  return (
    <Row
      id={keyOf(item)}
      className={`table-row ${rowClass?.(item) ?? ''}`}
      {...(onRowClick && { onAction: () => onRowClick(item) })}
    >
      {hasSelection && <Cell className="table-check">{isSelectable(item) && <SelectionCheckbox />}</Cell>}
      {columns.map(({ id, className, render }) => (
        <Cell key={id} {...(className !== undefined && { className })}>
          <div className={onRowClick ? 'table-cell clickable' : 'table-cell'} {...events}>
            {render(item)}
          </div>
        </Cell>
      ))}
    </Row>
  );
}

/** Stops the library from selecting the row, so that the user can select its text and use its links. */
function contentEvents(onClick?: () => void) {
  const stop = (event: SyntheticEvent) => event.stopPropagation();
  return {
    onPointerDown: stop,
    onMouseDown: stop,
    onClick(event: SyntheticEvent) {
      event.stopPropagation();
      const isText = !(event.target as Element).closest('a, button') && !getSelection()?.toString();
      if (isText) onClick?.();
    },
  };
}

function detailsKey(key: string): string {
  return `${key} details`;
}

/** The selected rows. Rows that leave the list leave the selection. */
function useSelection<Item extends object>({
  rows,
  keyOf,
  openKeys = noKeys,
  isSelectable,
}: RowsProps<Item>) {
  const [keys, setKeys] = useState<ReadonlySet<Key>>(noKeys);
  const selectable = useMemo(
    () => (isSelectable ? rows.filter((row) => isSelectable(row)) : rows),
    [rows, isSelectable],
  );
  const disabled = isSelectable ? rows.filter((row) => !isSelectable(row)).map(keyOf) : [];
  return {
    selected: useMemo(() => selectable.filter((row) => keys.has(keyOf(row))), [selectable, keys, keyOf]),
    clear: () => setKeys(noKeys),
    tableProps: {
      selectionMode: 'multiple',
      selectionBehavior: 'toggle',
      selectedKeys: keys,
      disabledKeys: [...disabled, ...[...openKeys].map(detailsKey)],
      disabledBehavior: 'selection',
      onSelectionChange: (next: 'all' | Set<Key>) =>
        setKeys(next === 'all' ? new Set(selectable.map(keyOf)) : next),
    } as const,
  };
}

/** The width of the table in steps, so that resizing the window renders it only a few times. */
function useFrameWidth() {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(Infinity);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    const measure = () => setWidth(Math.floor(element.clientWidth / 20) * 20);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { frame, width };
}
