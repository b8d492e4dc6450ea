/** The change kind that an administrator receives for each kind of folder entry in the journal. */

export const changeKindByEntry = {
  CREATE_FOLDER: 'CREATE',
  UPDATE_FOLDER: 'UPDATE',
  MOVE_FOLDER: 'MOVE',
  DELETE_FOLDER: 'DELETE',
  RESTORE_FOLDER: 'CREATE',
  DUPLICATE_FOLDER: 'CREATE',
  IMPORT_FOLDERS: 'IMPORT',
} as const;
