/** A logged-in user with operations over the graph. */

import assert from 'node:assert/strict';
import {
  getNamedType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  type GraphQLField,
  type GraphQLObjectType,
} from 'graphql';
import { withoutRequestId, type GraphError } from '../support/graph-testbed.ts';
import { administrator, type Testbed } from '../support/testbed.ts';

export interface SeenFolder {
  readonly id: string;
  readonly path: string;
  readonly accessLevel: string;
}

type Subject = { readonly userId: string } | { readonly groupId: string };

export class Person {
  readonly userId: string;
  readonly authToken: string;
  readonly #testbed: Testbed;

  static async logIn(testbed: Testbed, credentials = administrator): Promise<Person> {
    const { authToken } = await testbed.logIn(credentials);
    const { sub } = JSON.parse(Buffer.from(authToken.split('.')[1]!, 'base64url').toString()) as {
      sub: string;
    };
    return new Person(testbed, authToken, sub);
  }

  private constructor(testbed: Testbed, authToken: string, userId: string) {
    this.#testbed = testbed;
    this.authToken = authToken;
    this.userId = userId;
  }

  async send(
    query: string,
    variables?: Record<string, unknown>,
  ): Promise<{ data: unknown; errors?: GraphError[] }> {
    return (await this.#testbed.query(query, this.authToken, variables)).json();
  }

  /** Returns the data of the response. Errors fail the test. */
  async query<Data>(query: string, variables?: Record<string, unknown>): Promise<Data> {
    const { data, errors } = await this.send(query, variables);
    assert.equal(errors, undefined, `${query}: ${JSON.stringify(errors)}`);
    return data as Data;
  }

  async readErrors(query: string, variables?: Record<string, unknown>): Promise<GraphError[]> {
    return ((await this.send(query, variables)).errors ?? []).map(withoutRequestId);
  }

  async findId(path: string): Promise<string> {
    const query = 'query($path: String!){folder(path: $path){id}}';
    const { folder } = await this.query<{ folder: { id: string } | null }>(query, { path });
    assert.ok(folder, `${path} does not exist`);
    return folder.id;
  }

  /** Returns all folders below the root that this person sees. */
  async readAll(): Promise<SeenFolder[]> {
    const query = '{folder{descendants{items{id path accessLevel}}}}';
    return (await this.query<{ folder: { descendants: { items: SeenFolder[] } } }>(query)).folder.descendants
      .items;
  }

  /** Creates folders below a new top folder, and returns their ids by path. */
  async createTree(top: string, paths: readonly string[]): Promise<Record<string, string>> {
    const list = [{ path: top }, ...paths.map((path) => ({ path: `${top}/${path}` }))];
    const query = 'mutation($list: [ImportedPath!]){importFolders(input: {list: $list}){folderCount}}';
    await this.query(query, { list });
    const ids: Record<string, string> = {};
    for (const { path } of list) ids[path] = await this.findId(`/${path}`);
    return ids;
  }

  async createUser(testbed: Testbed, username: string): Promise<Person> {
    const credentials = { username, password: `a password of ${username}'s` };
    await this.query(
      'mutation($username: String!, $password: String!){createUser(input: {username: $username, password: $password}){user{id}}}',
      credentials,
    );
    return Person.logIn(testbed, credentials);
  }

  async createGroup(name: string, userIds: readonly string[]): Promise<string> {
    const { createGroup } = await this.query<{ createGroup: { group: { id: string } } }>(
      'mutation($name: String!){createGroup(input: {name: $name}){group{id}}}',
      { name },
    );
    const groupId = createGroup.group.id;
    await this.query(
      'mutation($groupId: ID!, $userIds: [ID!]!){addToGroup(input: {groupId: $groupId, userIds: $userIds}){group{id}}}',
      { groupId, userIds },
    );
    return groupId;
  }

  async removeFromGroup(groupId: string, userId: string): Promise<void> {
    await this.query(
      'mutation($groupId: ID!, $userIds: [ID!]!){removeFromGroup(input: {groupId: $groupId, userIds: $userIds}){group{id}}}',
      { groupId, userIds: [userId] },
    );
  }

  async grant(folderId: string, subject: Subject, level: string): Promise<void> {
    await this.query('mutation($input: GrantAccessInput!){grantAccess(input: $input){folder{id}}}', {
      input: { folderId, ...subject, level },
    });
  }

  async revoke(folderId: string, subject: Subject): Promise<void> {
    await this.query('mutation($input: RevokeAccessInput!){revokeAccess(input: $input){folder{id}}}', {
      input: { folderId, ...subject },
    });
  }

  /** Deletes a folder if it exists. */
  async deleteByPath(path: string): Promise<void> {
    const query = 'query($path: String!){folder(path: $path){id}}';
    const { folder } = await this.query<{ folder: { id: string } | null }>(query, { path });
    if (folder)
      await this.query(
        'mutation($id: ID!){deleteFolder(input: {id: $id, recursive: true}){folderId}}',
        folder,
      );
  }

  /** Sends each query field with all its nested fields. The arguments are the ids and the text. */
  async queryEveryField(
    queryType: GraphQLObjectType,
    ids: readonly string[],
    text: string,
  ): Promise<{ query: string; text: string }[]> {
    const responses: { query: string; text: string }[] = [];
    for (const field of Object.values(queryType.getFields())) {
      for (const args of argumentsOf(field, ids, text, this.userId)) {
        const query = `{${field.name}${args}${selectionOf(field, 4)}}`;
        responses.push({ query, text: (await this.#testbed.query(query, this.authToken)).text });
      }
    }
    return responses;
  }
}

/** Returns variants of the arguments of a field: no arguments if allowed, each id, and the text. */
function argumentsOf(
  field: GraphQLField<unknown, unknown>,
  ids: readonly string[],
  text: string,
  userId: string,
): string[] {
  const valueOf = (name: string, id: string) => {
    if (name === 'text' || name === 'username' || name === 'name') return text;
    return name === 'path' ? `/${text}` : name === 'userId' ? userId : id;
  };
  const isId = ({ name }: { name: string }) => /^(id|folderId|under|userId)$/.test(name);
  const candidates = field.args.filter((each) => isId(each) || /^(text|path|username|name)$/.test(each.name));
  const required = candidates.filter((each) => isRequiredArgument(each));
  const variants = [
    required,
    ...candidates.filter((each) => !required.includes(each)).map((each) => [...required, each]),
  ];
  return variants.flatMap((variant) => {
    const values = variant.some((each) => isId(each)) ? ids : [''];
    return values.map((id) =>
      variant.length === 0
        ? ''
        : `(${variant.map(({ name }) => `${name}: ${JSON.stringify(valueOf(name, id))}`).join(', ')})`,
    );
  });
}

function selectionOf(field: GraphQLField<unknown, unknown>, depth: number): string {
  const type = getNamedType(field.type);
  if (isLeafType(type)) return '';
  const fields = isObjectType(type) ? Object.values(type.getFields()) : [];
  const selected = fields
    .filter((each) => !each.args.some((argument) => isRequiredArgument(argument)))
    .filter((each) => depth > 1 || isLeafType(getNamedType(each.type)))
    .map((each) => each.name + selectionOf(each, depth - 1))
    .filter((each) => !each.endsWith('{}'));
  return selected.length > 0 || !isObjectType(type)
    ? `{${selected.join(' ') || '__typename'}}`
    : '{__typename}';
}
