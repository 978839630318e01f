// Writes docs/errors.md from the tables of errors: node bin/write-errors.ts
import { globSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ErrorRow } from '../src/kit/index.ts'

const root = path.dirname(import.meta.dirname)
const places = ['bin/cli/errors.ts', 'src/**/*errors.ts']

/** The errors of a room, which may have a table for each of its inner rooms. */
export interface ErrorTable {
  /** The room, or `cli`. */
  readonly room: string
  readonly file: string
  readonly rows: Readonly<Record<string, ErrorRow>>
}

/** Loads every table of errors, in order of the rooms' names. */
export async function loadErrorTables(): Promise<ErrorTable[]> {
  const tables: ErrorTable[] = []
  for (const file of globSync(places, { cwd: root }).toSorted()) {
    const exported: Record<string, unknown> = await import(pathToFileURL(path.join(root, file)).href)
    for (const { table } of Object.values(exported).filter(hasTable)) {
      tables.push({ room: file.split(path.sep)[1]!, file, rows: table })
    }
  }
  return tables.toSorted((a, b) => (a.room < b.room ? -1 : a.room > b.room ? 1 : 0))
}

/** The page that shows every error: what is said, what to do, which HTTP status it has. */
export async function makeErrorsPage(): Promise<string> {
  const rooms = Map.groupBy(await loadErrorTables(), ({ room }) => room)
  const sections = [...rooms].map(([room, tables]) => {
    const lines = tables.flatMap(({ rows }) => Object.entries(rows)).map(([code, row]) => makeLine(code, row))
    return `## ${room}\n\n| code | status | what is said | what to do |\n|---|---|---|---|\n${lines.join('\n')}\n`
  })
  return `# Errors\n\nWritten by \`npm run write:errors\` from the rooms' tables. \`{name}\` stands for a value.\n\n${sections.join('\n')}`
}

function hasTable(exported: unknown): exported is { readonly table: ErrorTable['rows'] } {
  return typeof exported === 'object' && exported !== null && 'table' in exported
}

function makeLine(code: string, { status, message, hint = '' }: ErrorRow): string {
  return `| <a id="${code}"></a>\`${code}\` | ${status} | ${escape(message)} | ${escape(hint)} |`
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
}

if (import.meta.main) writeFileSync(path.join(root, 'docs/errors.md'), await makeErrorsPage())
