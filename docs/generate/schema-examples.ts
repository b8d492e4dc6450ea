/** One example for each query, mutation and subscription, for the page of the schema. The tests of the pages validate them. */

export const schemaExamples: Readonly<
  Record<'query' | 'mutation' | 'subscription', Readonly<Record<string, string>>>
> = {
  query: {
    viewer: '{ viewer { user { username isAdministrator } tokenExpiresAt } }',
    folder: '{ folder(path: "/Places/Harbour Campus") { id title folders(first: 20) { items { name } } } }',
    node: '{ node(id: "0190b5d2-…") { id ... on Folder { path } } }',
    search: '{ search(text: "floor 2", first: 20) { totalCount items { path } } }',
    exportFolders: '{ exportFolders(depth: 2) { path title } }',
    trash: '{ trash(first: 20) { items { folderId name deletedAt purgedAt } } }',
    explainAccess:
      '{ explainAccess(userId: "…", folderId: "…") { level reason grant { folder { path } level } } }',
    users: '{ users(text: "ann", first: 20) { items { id username isDisabled } } }',
    user: '{ user(username: "ann") { id groups { items { name } } } }',
    groups: '{ groups { items { id name } } }',
    group: '{ group(name: "Editors") { members { totalCount items { username } } } }',
    sessions: '{ sessions(first: 20) { items { id user { username } refreshedAt address } } }',
    signIns:
      '{ signIns(filter: { results: [WRONG_CREDENTIALS], from: "2026-01-01T00:00:00Z" }, first: 20) { items { at username address count } } }',
    apiKeys: '{ apiKeys(first: 20) { items { name user { username } level state lastUsedAt } } }',
    apiKey: '{ apiKey(id: "…") { name state lastUsedAt } }',
    cursor: '{ cursor folder { folders { items { id name version } } } }',
    changes: '{ changes(after: "…", first: 100) { items { kind folderId folder { path } } cursor hasMore } }',
    journal:
      '{ journal(filter: { kinds: [DELETE_FOLDER], from: "2026-01-01T00:00:00Z" }, first: 20) { items { at path by { username } } } }',
    server: '{ server { version database { kind } health { name isOk detail } } }',
  },
  mutation: {
    createFolder:
      '{ createFolder(input: { parentId: "…", name: "Floor 2", title: "Second floor", properties: { area: 120 } }) { folder { id path } } }',
    updateFolder:
      '{ updateFolder(input: { id: "…", title: "Second floor", expectedVersion: 7 }) { folder { title version } } }',
    deleteFolder: '{ deleteFolder(input: { id: "…", recursive: true }) { folderId folderCount } }',
    moveFolder:
      '{ moveFolder(input: { id: "…", parentId: "…", dryRun: true }) { folderCount accessChanges { items { user { username } before after } } } }',
    importFolders:
      '{ importFolders(input: { list: [{ path: "Places/Floor 1" }, { path: "Places/Floor 2", title: "Second floor" }], onExisting: KEEP }) { createdCount keptCount } }',
    duplicateFolder:
      '{ duplicateFolder(input: { id: "…", name: "Floor 3" }) { folder { id path } folderCount } }',
    restoreFolder: '{ restoreFolder(input: { id: "…" }) { folder { path } } }',
    purgeFolder: '{ purgeFolder(input: { id: "…" }) { folderCount } }',
    emptyTrash: '{ emptyTrash(input: { deletedBefore: "2026-01-31T12:00:00Z" }) { folderCount } }',
    grantAccess: '{ grantAccess(input: { folderId: "…", groupId: "…", level: WRITE }) { folder { path } } }',
    revokeAccess: '{ revokeAccess(input: { folderId: "…", userId: "…" }) { folder { path } } }',
    setFavorite: '{ setFavorite(input: { folderId: "…", isFavorite: true }) { folder { path } } }',
    visitFolder: '{ visitFolder(input: { folderId: "…" }) { folder { path } } }',
    createUser:
      '{ createUser(input: { username: "ann", password: "copper lantern meadow" }) { user { id } } }',
    updateUser: '{ updateUser(input: { id: "…", isDisabled: true }) { user { isDisabled } } }',
    deleteUser: '{ deleteUser(input: { id: "…" }) { deletedUserId } }',
    resetPassword:
      '{ resetPassword(input: { userId: "…", password: "copper lantern meadow" }) { endedSessions } }',
    startViewAs: '{ startViewAs(input: { userId: "…" }) { viewToken expiresAt } }',
    changePassword:
      '{ changePassword(input: { oldPassword: "…", newPassword: "copper lantern meadow" }) { endedSessions } }',
    startTotpEnrolment:
      '{ startTotpEnrolment(input: { proof: { password: "…" } }) { secret uri expiresAt } }',
    confirmTotpEnrolment:
      '{ confirmTotpEnrolment(input: { code: "287082" }) { recoveryCodes endedSessions } }',
    removeTotp: '{ removeTotp(input: { proof: { code: "287082" } }) { secondFactor { isEnrolled } } }',
    createRecoveryCodes: '{ createRecoveryCodes(input: { proof: { password: "…" } }) { recoveryCodes } }',
    startPasskeyEnrolment:
      '{ startPasskeyEnrolment(input: { proof: { password: "…" } }) { challengeId options } }',
    finishPasskeyEnrolment:
      '($response: JSON!) { finishPasskeyEnrolment(input: { challengeId: "…", response: $response, name: "Phone" }) { passkey { id } recoveryCodes } }',
    renamePasskey: '{ renamePasskey(input: { id: "…", name: "Phone" }) { passkey { name } } }',
    removePasskey:
      '{ removePasskey(input: { id: "…", proof: { password: "…" } }) { secondFactor { passkeys { name } } } }',
    resetSecondFactor: '{ resetSecondFactor(input: { userId: "…" }) { endedSessions } }',
    createGroup: '{ createGroup(input: { name: "Editors" }) { group { id } } }',
    updateGroup: '{ updateGroup(input: { id: "…", name: "Authors" }) { group { name } } }',
    deleteGroup: '{ deleteGroup(input: { id: "…" }) { deletedGroupId } }',
    addToGroup: '{ addToGroup(input: { groupId: "…", userIds: ["…"] }) { added } }',
    removeFromGroup: '{ removeFromGroup(input: { groupId: "…", userIds: ["…"] }) { removed } }',
    revokeSession: '{ revokeSession(input: { id: "…" }) { revokedSessionId } }',
    revokeSessions: '{ revokeSessions(input: { keepCurrent: true }) { endedSessions } }',
    createApiKey:
      '{ createApiKey(input: { name: "nightly import", level: WRITE, folderId: "…" }) { key apiKey { id expiresAt } } }',
    linkSingleSignOn: '{ linkSingleSignOn(input: { code: "…", verifier: "…" }) { identity { id name } } }',
    unlinkSingleSignOn: '{ unlinkSingleSignOn(input: { id: "…" }) { unlinkedIdentityId } }',
    revokeApiKey: '{ revokeApiKey(input: { id: "…" }) { apiKey { state } } }',
    convertToServiceAccount: '{ convertToServiceAccount(input: { userId: "…" }) { user { kind } } }',
  },
  subscription: {
    folderChanges: '{ folderChanges(after: "…") { kind cursor folderId folder { name parent { id } } } }',
    journal: '{ journal(filter: { kinds: [CREATE_USER, DELETE_USER] }) { at kind user { username } } }',
  },
};
