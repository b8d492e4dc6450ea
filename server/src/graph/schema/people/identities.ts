/** Linked accounts of the single sign-on provider: the type, its lists and the mutations. Only administrators and the user see them. */

import { whenDone } from '../../../concurrency/promise-or-value.ts';
import {
  listIdentitiesOf,
  readIdentity,
  type Identity as IdentityRow,
} from '../../../sessions/single-sign-on/identities.ts';
import { personalField } from '../../field-marks.ts';
import { builder, User, type GraphContext } from '../builder.ts';
import { chargeList } from '../charges.ts';
import { defineMutation } from '../mutation.ts';
import { requireExisting, type UserNode } from './people-batch.ts';
import {
  forAdministratorsAndSelf,
  notInViewOrKey,
  readableIds,
  requireDetails,
  requireAccountDetails,
  Viewer,
} from './people-types.ts';

const Identity = builder.objectRef<IdentityRow>('Identity').implement({
  description:
    'An account of the single sign-on provider that is linked with a user. The user can sign in with it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id, a UUID that never changes.' }),
    issuer: t.exposeString('issuer', { description: 'The URL of the provider.' }),
    subject: t.exposeString('subject', { description: 'The id of the account at the provider.' }),
    name: t.exposeString('name', {
      nullable: true,
      description: 'The user name at the provider when the account was last used.',
    }),
    linkedAt: t.expose('createdAt', { type: 'DateTime', description: 'When the account was linked.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time of the last sign-in with this account. Null if there was none.',
    }),
  }),
});

builder.objectField(User, 'identities', (t) =>
  t.field({
    extensions: personalField,
    type: [Identity],
    nullable: true,
    description: `The linked accounts of the single sign-on provider, the oldest link first. ${notInViewOrKey} ${forAdministratorsAndSelf}`,
    resolve: chargeList((user: UserNode, { access, reader, viewer }: GraphContext) => {
      requireAccountDetails(viewer, access);
      const { id, batch } = requireDetails(user, access);
      const found = batch.readOnce('identities', () => listIdentitiesOf(reader, readableIds(user, access)));
      return whenDone(found, (identities) => identities.get(id) ?? []);
    }),
  }),
);

builder.objectField(Viewer, 'identities', (t) =>
  t.field({
    type: [Identity],
    description: `Your linked accounts of the single sign-on provider. ${notInViewOrKey}`,
    resolve: chargeList((viewer, { access, reader }) => {
      requireAccountDetails(viewer, access);
      const { userId } = viewer;
      return whenDone(listIdentitiesOf(reader, [userId]), (identities) => identities.get(userId) ?? []);
    }),
  }),
);

defineMutation('linkSingleSignOn', {
  description:
    'Link your user with the account that has just signed in at the provider. Start the sign-in at `/login/sso` as usual, and send the one-time code here instead of to `/login/sso`. CONFLICT if the account is linked with another user. FORBIDDEN for API keys, and if your sign-in is more than ten minutes old: a stolen session must not become a lasting access.',
  input: (t) => ({
    code: t.string({ required: true, description: 'The one-time code of the sign-in.' }),
    verifier: t.string({ required: true, description: 'The text whose SHA-256 was the `challenge`.' }),
  }),
  change: ({ identities }, caller, input) => identities.link(caller, input),
  toPayload: ({ id }, { context: { reader } }) =>
    whenDone(readIdentity(reader, id), (identity) => ({ identity: requireExisting(identity) })),
  payload: (t) => ({
    identity: t.expose('identity', { type: Identity, description: 'The linked account.' }),
  }),
});

defineMutation('unlinkSingleSignOn', {
  description:
    'Remove the link between a user and an account at the provider, and end the sessions that began with this account, except the session of this request. Only administrators may remove the links of other users. CONFLICT if it is your last way to sign in: you have no password that may log in, no passkey, and no other linked account. FORBIDDEN for API keys.',
  input: (t) => ({ id: t.id({ required: true, description: 'The id of the linked account.' }) }),
  change: ({ identities }, caller, { id }) => identities.unlink(caller, id),
  toPayload: (_, __, { id }) => ({ unlinkedIdentityId: id }),
  payload: (t) => ({
    unlinkedIdentityId: t.exposeID('unlinkedIdentityId', { description: 'The id of the removed link.' }),
  }),
});
