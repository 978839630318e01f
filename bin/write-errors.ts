// Writes docs/errors.md from the tables of errors: node bin/write-errors.ts
import { globSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ErrorRow } from '../src/kit/index.ts'

const root = path.dirname(import.meta.dirname)
const places = ['bin/cli/errors.ts', 'src/*/errors.ts']

/** A room's table of errors. */
export interface ErrorTable {
  /** The room, or `cli`. */
  readonly room: string
  readonly file: string
  readonly rows: Readonly<Record<string, ErrorRow>>
}

/** Loads every table of errors, in order of the rooms' names. */
export async function loadErrorTables(): Promise<ErrorTable[]> {
  const tables: ErrorTable[] = []
  for (const file of globSync(places, { cwd: root })) {
    // kit/errors.ts makes tables and has none.
    const { errors } = await import(pathToFileURL(path.join(root, file)).href)
    if (errors !== undefined) tables.push({ room: path.basename(path.dirname(file)), file, rows: errors.table })
  }
  return tables.toSorted((a, b) => (a.room < b.room ? -1 : 1))
}

/** The page that shows every error: what is said, what to do, which HTTP status it has. */
export async function makeErrorsPage(): Promise<string> {
  const sections = (await loadErrorTables()).map(({ room, rows }) => {
    const lines = Object.entries(rows).map(([code, row]) => makeLine(code, row))
    return `## ${room}\n\n| code | status | what is said | what to do |\n|---|---|---|---|\n${lines.join('\n')}\n`
  })
  return `# Errors\n\nWritten by \`npm run write:errors\` from the rooms' tables. \`{name}\` stands for a value.\n\n${sections.join('\n')}`
}

function makeLine(code: string, { status, message, hint = '' }: ErrorRow): string {
  return `| <a id="${code}"></a>\`${code}\` | ${status} | ${escape(message)} | ${escape(hint)} |`
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
}

if (import.meta.main) writeFileSync(path.join(root, 'docs/errors.md'), await makeErrorsPage())
