import { nameSearchTable, searchColumn, type DatabaseKind, type SearchSnapshot } from '../contract/index.ts'
import { quote, shortenName, writeText } from './column-checks.ts'

/** PostgreSQL has four weights, which tell from which column a word comes. */
export const maxSearchColumns = 4

/** PostgreSQL keeps the positions of about as many words, and refuses a row with far more. */
const maxSearched = 100_000

/** The names of the columns of the words on SQLite, and the weights on PostgreSQL. */
const letters = 'abcd'

const punctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'

type Search = SearchSnapshot & { readonly table: string }

/** Returns the SQL that makes a table searchable. */
export function writeAddSearch(search: Search, kind: DatabaseKind): readonly string[] {
  return kind === 'sqlite' ? addOnSqlite(search) : addOnPostgres(search)
}

export function writeDropSearch(table: string, kind: DatabaseKind): readonly string[] {
  if (kind === 'postgresql') return [`alter table ${quote(table)} drop column ${quote(searchColumn)}`]
  return [...triggerEvents.map((event) => `drop trigger if exists ${nameTrigger(table, event)}`), dropWords(table)]
}

/** Drops what a dropped table leaves behind. */
export function dropWords(table: string): string {
  return `drop table if exists ${quote(nameSearchTable(table))}`
}

/**
 * Without punctuation, the parser finds the words that SQLite finds, instead of addresses and numbers with a sign. A
 * phrase cannot begin in one column and end in the next, because the mark between them has a distance from both.
 */
function addOnPostgres({ table, columns, configuration = 'simple' }: Search): readonly string[] {
  const blank = `repeat(' ', ${punctuation.length})`
  const parts = columns.map((name, index) => {
    const text = `left(coalesce(cast(${quote(name)} as text), ''), ${maxSearched})`
    const words = `translate(${text}, ${writeText(punctuation)}, ${blank})`
    return `setweight(to_tsvector(${writeText(configuration)}, ${words}), '${letters[index]!.toUpperCase()}')`
  })
  const generated = `generated always as (${parts.join(` || tsvector ''' '':50' || `)}) stored`
  const index = shortenName(`${table}_${searchColumn}`, '_idx')
  return [
    `alter table ${quote(table)} add column ${quote(searchColumn)} tsvector ${generated}`,
    `create index ${quote(index)} on ${quote(table)} using gin (${quote(searchColumn)})`,
  ]
}

const triggerEvents = ['insert', 'update', 'delete'] as const

function nameTrigger(table: string, event: (typeof triggerEvents)[number]): string {
  return quote(`${nameSearchTable(table)}_${event}`)
}

/** The triggers name the columns, so that they follow when a column is renamed. A snapshot reads them from `insert`. */
function addOnSqlite({ table, columns, configuration = 'simple' }: Search): readonly string[] {
  const words = quote(nameSearchTable(table))
  const names = columns.map((_, index) => letters[index]).join(', ')
  const stem = configuration === 'english' ? 'porter ' : ''
  const values = (row: string) => columns.map((name) => `substr(${row}${quote(name)}, 1, ${maxSearched})`).join(', ')
  const add = `insert or replace into ${words} (rowid, ${names})`
  const remove = `delete from ${words} where rowid = old._rowid_`
  const changes = ['_rowid_', ...columns.map(quote)].map((name) => `new.${name} is not old.${name}`)
  const on = quote(table)
  return [
    dropWords(table),
    `create virtual table ${words} using fts5 (${names}, content = '', contentless_delete = 1, tokenize = '${stem}unicode61 remove_diacritics 0')`,
    `create trigger ${nameTrigger(table, 'insert')} after insert on ${on} begin /* ${configuration} */ ${add} values (new._rowid_, ${values('new.')}); end`,
    `create trigger ${nameTrigger(table, 'update')} after update on ${on} when ${changes.join(' or ')} begin ${remove}; ${add} values (new._rowid_, ${values('new.')}); end`,
    `create trigger ${nameTrigger(table, 'delete')} after delete on ${on} begin ${remove}; end`,
    `insert into ${words} (rowid, ${names}) select _rowid_, ${values('')} from ${on}`,
  ]
}

/** Reads what is searched from the text of the trigger, or from the expression of the generated column. */
export function readSearch(text: string, kind: DatabaseKind): SearchSnapshot | undefined {
  const [column, named] = kind === 'sqlite' ? sqliteParts : postgresParts
  const columns = [...text.matchAll(column)].map(([, name = '']) => unquote(name))
  const configuration = named.exec(text)?.[1]
  if (columns.length === 0 || configuration === undefined) return undefined
  return { columns, ...(configuration !== 'simple' && { configuration }) }
}

const sqliteParts = [/substr\(new\.("(?:[^"]|"")+"|\w+), 1/g, /begin \/\* (\S+) \*\//] as const
const postgresParts = [
  /COALESCE\(\(?("(?:[^"]|"")+"|[\w$]+)\)?(?:::text)?, ''::text\)/g,
  /to_tsvector\('([^']+)'::regconfig/,
] as const

function unquote(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name
}
