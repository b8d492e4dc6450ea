/** As what an administrator is told of each kind of entry that is about folders. */

export const toldAs = {
  CREATE_FOLDER: 'CREATE',
  UPDATE_FOLDER: 'UPDATE',
  MOVE_FOLDER: 'MOVE',
  DELETE_FOLDER: 'DELETE',
  RESTORE_FOLDER: 'CREATE',
  IMPORT_FOLDERS: 'IMPORT',
} as const;
