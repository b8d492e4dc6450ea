/** Simulates an hour of activity, so that charts, sessions and histories in the screenshots have content. */

import type { LoginResponse } from '@espalier/contract';
import type { ConsoleTestbed, Who } from '../../tests/console/console-testbed.ts';

const agents = {
  firefox: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:147.0) Gecko/20100101 Firefox/147.0',
  safari:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.2 Mobile/15E148 Safari/604.1',
  curl: 'curl/8.17.0',
};
/** Auth tokens are refreshed before they expire. */
const refreshMinutes = 9;

interface UserSession {
  readonly agent: string;
  readonly tokens: LoginResponse;
}

export async function simulateHour(consoleTestbed: ConsoleTestbed): Promise<void> {
  const { demo, tree } = consoleTestbed;
  const server = tree.server;
  const post = (path: string, body: object, agent: string, authToken?: string) =>
    server.postRaw(path, JSON.stringify(body), {
      'content-type': 'application/json',
      'user-agent': agent,
      ...(authToken && { authorization: `Bearer ${authToken}` }),
    });
  const sessions: UserSession[] = [];
  const signIn = async (username: Who, agent: string) => {
    const response = await post('/login', { username, password: consoleTestbed.passwordOf(username) }, agent);
    sessions.push({ agent, tokens: response.json<LoginResponse>() });
  };
  const failLogin = (username: Who) =>
    post('/login', { username, password: 'quince in brown paper' }, agents.curl);
  const refresh = async ({
    agent,
    tokens: { authToken, refreshToken },
  }: UserSession): Promise<UserSession> => {
    const response = await post('/login/refresh', { refreshToken }, agent, authToken);
    return { agent, tokens: response.json<LoginResponse>() };
  };
  const mutate = (name: string, input: Record<string, unknown>) =>
    tree.mutate(name, input, 'cursor', sessions[0]!.tokens.authToken);
  const campus = await demo.idOf('/Places/Harbour Campus');

  /** The events, by the minute in which they happen. */
  const events: Readonly<Record<number, () => Promise<unknown>>> = {
    0: () => signIn('ada', agents.firefox),
    5: () => failLogin('tim'),
    6: () => failLogin('tim'),
    14: () =>
      mutate('updateFolder', {
        id: campus,
        description: 'The oldest site, on the north quay. Ask the porter for the keys.',
      }),
    22: () => signIn('grace', agents.safari),
    37: () => signIn('admin', agents.curl),
    44: () => mutate('createFolder', { parentId: campus, name: 'Floor 12' }),
    52: () => failLogin('grace'),
  };
  for (let minute = 0; minute < 60; minute++) {
    await events[minute]?.();
    if (minute % refreshMinutes === refreshMinutes - 1) {
      for (const [index, session] of sessions.entries()) sessions[index] = await refresh(session);
    }
    const requests = 40 + Math.round(25 * Math.sin(minute / 6)) + ((minute * 7) % 17);
    for (let request = 0; request < requests; request++) {
      await server.query('{folder{name}}', sessions[request % sessions.length]!.tokens.authToken);
    }
    server.clock.advanceSeconds(60);
  }
  tree.authToken = (await server.logIn()).authToken;
}
