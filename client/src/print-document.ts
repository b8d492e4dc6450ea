/**
 * Prints a parsed, executable GraphQL document: operations and fragments. It reads only the syntax nodes, so it works with every
 * GraphQL parser.
 */

type Nodes = readonly SyntaxNode[] | undefined;

/** A syntax node of graphql-js, of any kind. */
interface SyntaxNode {
  readonly kind: string;
  readonly name?: SyntaxNode;
  readonly value?: SyntaxNode | string | boolean;
  readonly values?: Nodes;
  readonly fields?: Nodes;
  readonly definitions?: Nodes;
  readonly operation?: string;
  readonly variableDefinitions?: Nodes;
  readonly variable?: SyntaxNode;
  readonly type?: SyntaxNode;
  readonly defaultValue?: SyntaxNode;
  readonly selectionSet?: SyntaxNode;
  readonly selections?: Nodes;
  readonly alias?: SyntaxNode;
  readonly arguments?: Nodes;
  readonly directives?: Nodes;
  readonly typeCondition?: SyntaxNode;
}

/** Adds a prefix and a suffix, unless the text is empty. */
const part = (prefix: string, text: string, suffix = '') => text && prefix + text + suffix;
const all = (nodes: Nodes, separator: string) => (nodes ?? []).map(print).join(separator);
const directives = (node: SyntaxNode) => part(' ', all(node.directives, ' '));
const variables = (node: SyntaxNode) => part('(', all(node.variableDefinitions, ','), ')');
const args = (node: SyntaxNode) => part('(', all(node.arguments, ','), ')');
const condition = (node: SyntaxNode) => part(' on ', print(node.typeCondition));
const value = (node: SyntaxNode) => print(node.value as SyntaxNode);
const raw = (node: SyntaxNode) => `${node.value as string}`;

const printers: Readonly<Record<string, (node: SyntaxNode) => string>> = {
  Document: (node) => all(node.definitions, '\n'),
  OperationDefinition: (node) =>
    `${node.operation}${part(' ', print(node.name))}${variables(node)}${directives(node)}${print(node.selectionSet)}`,
  FragmentDefinition: (node) =>
    `fragment ${print(node.name)}${variables(node)}${condition(node)}${directives(node)}${print(node.selectionSet)}`,
  VariableDefinition: (node) =>
    `${print(node.variable)}:${print(node.type)}${part('=', print(node.defaultValue))}${directives(node)}`,
  SelectionSet: (node) => `{${all(node.selections, ' ')}}`,
  Field: (node) =>
    `${part('', print(node.alias), ':')}${print(node.name)}${args(node)}${directives(node)}${print(node.selectionSet)}`,
  FragmentSpread: (node) => `...${print(node.name)}${args(node)}${directives(node)}`,
  InlineFragment: (node) => `...${condition(node)}${directives(node)}${print(node.selectionSet)}`,
  Argument: (node) => `${print(node.name)}:${value(node)}`,
  Directive: (node) => `@${print(node.name)}${args(node)}`,
  Variable: (node) => `$${print(node.name)}`,
  Name: raw,
  IntValue: raw,
  FloatValue: raw,
  BooleanValue: raw,
  EnumValue: raw,
  NullValue: () => 'null',
  // A block string is printed as an ordinary string with the same value.
  StringValue: (node) => JSON.stringify(node.value),
  ListValue: (node) => `[${all(node.values, ',')}]`,
  ObjectValue: (node) => `{${all(node.fields, ',')}}`,
  ObjectField: (node) => `${print(node.name)}:${value(node)}`,
  NamedType: (node) => print(node.name),
  ListType: (node) => `[${print(node.type)}]`,
  NonNullType: (node) => `${print(node.type)}!`,
};

function print(node: SyntaxNode | undefined): string {
  if (!node) return '';
  const printer = printers[node.kind];
  if (!printer) throw new TypeError(`An executable document cannot contain ${node.kind}.`);
  return printer(node);
}

export function printDocument(document: object): string {
  return print(document as SyntaxNode);
}
