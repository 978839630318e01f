import { DatabaseSync } from 'node:sqlite'
import type { TestProject } from '../support/project.ts'

/** Everything that the System in a file of a project holds, by table; the embedded one by default. */
export function readSystem({ folder }: TestProject, file = '.waypost/system.db'): Record<string, unknown[]> {
  const database = new DatabaseSync(`${folder}/${file}`, { readOnly: true })
  try {
    const tables = database.prepare(`select name from sqlite_master where type = 'table' order by name`).all()
    return Object.fromEntries(
      tables.map(({ name }) => [name, database.prepare(`select * from "${String(name)}" order by 1`).all()]),
    )
  } finally {
    database.close()
  }
}
