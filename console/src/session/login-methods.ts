/** The ways to sign in that the server offers. */

import type { LoginMethods } from '@espalier/client';
import { useQuery } from '@tanstack/react-query';
import { client } from './client.ts';

const passwordOnly: LoginMethods = { password: true, singleSignOn: null, passkeys: false };

/** Returns undefined until the methods are loaded. If they cannot be loaded, the form offers the password. */
export function useLoginMethods(): LoginMethods | undefined {
  const { data, isPending } = useQuery({
    queryKey: ['login-methods'],
    queryFn: ({ signal }) => client.loginMethods({ signal }),
  });
  // A failure needs no message here: the sign-in itself reports a server that cannot be reached.
  return data ?? (isPending ? undefined : passwordOnly);
}
