// Writes docs/definition.md from the structure that checks waypost.yml: node bin/write-definition.ts
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { makeEditorSchema } from '../src/definition/index.ts'
import { settingsTable, type SettingRow } from '../src/kit/index.ts'

const root = path.dirname(import.meta.dirname)

interface Node {
  readonly title?: string
  readonly description?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Node>>
  readonly patternProperties?: Readonly<Record<string, Node>>
  readonly anyOf?: readonly Node[]
  readonly items?: Node
  readonly $ref?: string
}

/** An example for each key, by its place; the page fails to be written when one is missing. */
export const examples: Readonly<Record<string, string>> = parseExamples()

/** The page with every key of waypost.yml, its meaning and an example. */
export function makeDefinitionPage(): string {
  const { properties = {} } = makeEditorSchema() as Node
  const sections = Object.entries(properties)
    .filter(([name]) => name !== 'config')
    .map(([name, node]) => makeSection(name, node))
  return [
    '# waypost.yml\n',
    'Written by `npm run write:definition` from the structure that `validate` checks. Any part may stand in a file of its own:',
    '`!include file.yml`, `!include file.yml#/json/pointer`. `${env.NAME}` and `${env.NAME:-default}` may stand in `connection`,',
    'in the `config` of actions, in `config` and in `cronjob`; each server reads them when it brings up a release. Actions read the',
    'variables that `env` declares: [actions.md](actions.md#variables).\n',
    'Editors with the YAML language server complete, check and explain the keys by the first line of `waypost.yml`. One that marks',
    '`!include` as unknown wants the setting `"yaml.customTags": ["!include scalar"]`.\n',
    'When and where a cronjob runs, and what can be relied on: [cronjobs.md](cronjobs.md).\n',
    '`plugins` besides those that come with Waypost are loaded by `validate` and `dev`, and not yet carried in releases.\n',
    ...sections,
    makeSettings(),
  ].join('\n')
}

function makeSection(name: string, node: Node): string {
  const entry = entryOf(node)
  const lines = [`## ${name}\n`, `${describe(node)}.\n`, fence(exampleOf(name))]
  if (entry !== undefined) lines.push(...makeTable(name, entry))
  return `${lines.join('\n')}\n`
}

/** What stands under each key of a map, or in each item of a list. */
function entryOf(node: Node): Node | undefined {
  const shape = shapeOf(node)
  const inner = Object.values(shape?.patternProperties ?? {})[0] ?? shape?.items
  return inner && shapeOf(inner)
}

/** The map or list that a node may be; a text beside it stands for an include. */
function shapeOf(node: Node): Node | undefined {
  if (node.type === 'object' || node.type === 'array') return node
  for (const branch of node.anyOf ?? []) {
    const found = shapeOf(branch)
    if (found !== undefined) return found
  }
  return undefined
}

function makeTable(place: string, node: Node): string[] {
  const rows = Object.entries(node.properties ?? {})
  if (rows.length === 0) return []
  const lines = rows.map(([key, value]) => {
    const needed = node.required?.includes(key) ? ' (needed)' : ''
    return `| \`${key}\`${needed} | ${cell(describe(value))} | \`${cell(exampleOf(`${place}.${key}`))}\` |`
  })
  const inner = rows.flatMap(([key, value]) => {
    const shape = key === 'methods' ? shapeOf(Object.values(shapeOf(value)?.properties ?? {})[0] ?? {}) : undefined
    return shape === undefined ? [] : [`\nA method:`, ...makeTable('method', shape)]
  })
  return ['', '| key | | example |', '|---|---|---|', ...lines, ...inner]
}

function describe(node: Node): string {
  const [title, description] = [titleOf(node), descriptionOf(node)]
  return [capital(title), description].filter((one) => one !== '').join('. ')
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function titleOf(node: Node): string {
  if (node.const !== undefined) return `\`${JSON.stringify(node.const)}\``
  if (node.enum !== undefined) return node.enum.map((one) => `\`${String(one)}\``).join(' or ')
  if (node.$ref?.endsWith('/schema')) return 'a schema by name, in place or included'
  if (node.$ref?.endsWith('/parameters')) return 'an object schema, or a map of name to schema'
  const found = node.title ?? shapeOf(node)?.title ?? node.anyOf?.map(titleOf).find((one) => one !== '')
  return found ?? (node.type === 'boolean' ? '`true` or `false`' : '')
}

function descriptionOf(node: Node): string {
  return node.description ?? shapeOf(node)?.description ?? ''
}

function makeSettings(): string {
  const rows = Object.entries<SettingRow>(settingsTable).map(
    ([name, row]) =>
      `| \`${name}\` | ${cell(row.description)} | \`${cell(JSON.stringify(row.default))}\` | \`${cell(exampleOf(`config.${name}`))}\` |`,
  )
  return [
    '## config\n',
    'Settings of the server.\n',
    fence(exampleOf('config')),
    '',
    '| setting | | default | example |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

function exampleOf(place: string): string {
  const example = examples[place]
  if (example === undefined) throw new Error(`bin/definition-examples.md has no example for ${place}`)
  return example
}

/** Sections `## place` followed by the example, in a file that people edit. */
function parseExamples(): Record<string, string> {
  const text = readFileSync(path.join(root, 'bin/definition-examples.md'), 'utf8')
  return Object.fromEntries(
    text
      .split(/^## /m)
      .slice(1)
      .map((part) => {
        const [place = '', ...lines] = part.split('\n')
        return [place.trim(), lines.join('\n').trim()]
      }),
  )
}

function fence(text: string): string {
  return `\`\`\`yaml\n${text}\n\`\`\``
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

if (import.meta.main) writeFileSync(path.join(root, 'docs/definition.md'), makeDefinitionPage())
