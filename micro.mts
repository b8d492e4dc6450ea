// node micro.mts <repo> <sqlite|pg url> : CPU per graph.run of client documents, in process
const repo = process.argv[2]!; const only = process.argv[3];
const imp = (p: string) => import(`${repo}/${p}`);
const { MirrorBed } = await imp('tests/live/mirror-bed.ts');
const { databaseKinds } = await imp('tests/databases.ts');
const kind = databaseKinds.find((k: any) => /SQLite/.test(k.name) === !process.env.PG)!;
const bed = await MirrorBed.start(kind, {maxImportFolders: 200000});
const admin = await bed.administratorId();
const ask = async (q: string, v: any = {}) => { const r = await bed.run(admin, q, v); if (r.errors) throw new Error(JSON.stringify(r.errors)); return r.data as any; };
const leaf = (n: string, i: number) => ({ name: n, title: i%2? `The title of ${n}`: undefined, icon: i%3? 'folder': undefined, description: i%4 ? 'A description of this folder with some words': undefined, properties: i%5? {colour:'red', size:3}: undefined });
const sub = (depth: number, width: number, prefix: string): any[] => Array.from({length: width}, (_, i) => ({...leaf(`${prefix} ${i}`, i), folders: depth > 1 ? sub(depth-1, width, prefix+i) : []}));
await ask('mutation($tree:[ImportedFolder!]){importFolders(input:{tree:$tree}){folderCount}}', { tree: [{name:'levels', folders: sub(2,10,'Level')}, {name:'page', folders: sub(1,1000,'Folder')}, {name: 'deep', folders: sub(4,8,'Deep')}] });
const page = (await ask('{folder(path:"/page"){id}}')).folder.id, deep=(await ask('{folder(path:"/deep"){id}}')).folder.id, one=(await ask('{folder(path:"/deep/Deep 1/Deep1 1/Deep11 1"){id}}')).folder.id;
const F='id name title icon description properties parent{id}accessLevel version createdAt updatedAt';
const docs: Record<string,[string, any]> = {
 name: ['{folder{name}}', {}],
 levels: ['{folder(path:"/levels"){name folders{edges{node{name folders{edges{node{name}}}}}}}}', {}],
 contractPage: [`{folder(id:"${page}"){folders(first:50){edges{node{name}}}}}`, {}],
 clientPage: [`query($id:ID!,$first:Int,$after:String){folder(id:$id){list:folders(first:$first,after:$after){items{${F}}pageInfo{endCursor hasNextPage}}}}`, {id: page, first: 50, after: null}],
 consoleLevel: ['query TreeStretch($id: ID!, $skip: Int!, $first: Int!) {folder(id: $id) {folders(first: $first, skip: $skip) {totalCount items {...FolderRow}}}} fragment FolderRow on Folder {id name title icon accessLevel version parent {id} folders(first: 1) {totalCount}}', {id: page, skip: 0, first: 50}],
 watch: [`query($id:ID,$first:Int,$after:String,$at:ID){cursor folder(id:$id){${F} descendants(first:$first,after:$after){items{${F}}pageInfo{endCursor hasNextPage}}}at:folder(id:$at){id name accessLevel ancestors{id name accessLevel}}}`, {id: deep, first: 100, after: null, at: deep}],
 path: [`query($id:ID!){folder(id:$id){${F} path depth}}`, {id: one}],
 search: [`query($text:String!,$under:ID,$first:Int,$after:String){search(text:$text,under:$under,first:$first,after:$after){items{${F} path depth}pageInfo{endCursor hasNextPage}}}`, {text: 'deep11', first: 20}],
};
const viewer = { userId: admin, sessionId: 'x', keyId: 'x', tokenExpiresAt: 1e15 };
for (const [name, [query, variables]] of Object.entries(docs)) {
  if (only && !only.split(',').includes(name)) continue;
  const run = async () => { const r = await bed.graph.run({ query, variables }, viewer); if (r.text.includes('"errors"')) throw new Error(r.text); return r.text.length; };
  for (let i=0;i<600;i++) await run();
  const n = Number(process.env.N ?? 3000); const best: number[] = [];
  for (let r=0;r<3;r++){ const t=process.cpuUsage(); for (let i=0;i<n;i++) await run(); const u=process.cpuUsage(t); best.push((u.user+u.system)/n); }
  console.log(name.padEnd(14), Math.min(...best).toFixed(1), 'µs', await run(), 'chars');
}
await bed.stop();
