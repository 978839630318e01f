import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import type { Definition } from '../../definition/index.ts'
import { installation, readJsonFile } from '../../kit/index.ts'
import { findProject } from '../find-project.ts'
import { loadProject } from '../load-project.ts'
import { copyFiles, type CopyResult } from './copy-files.ts'
import { packageName } from './fill-package.ts'

/** The project name in the files of parts. */
const placeholder = /\bmy-api\b/g
/** Lines for the folder of a project, not for that of a server. */
const projectLines = /^ *# <project>\n([^]*?)^ *# <\/project>\n/gm
/** Lines for the folder of a server. */
const serverLines = /^ *# <server>\n([^]*?)^ *# <\/server>\n/gm
/** The flag of a command that gives a user the scopes of the project. */
const scopesFlag = / --scopes my-scopes/g

/** Lines that the variables of the project replace. */
const variablesLines = /^( *)# <variables>\n[^]*?^ *# <\/variables>\n/gm
const variablesMark = /^ *# <\/?variables>\n/gm
/** The alternative for projects with cronjobs. Also replaces a `command` below it. */
const cronjobsLines = /^( *)# With cronjobs: (.*)\n(?:\1command: .*\n)?/gm

export const partsFolder: string = path.join(installation, 'templates', 'with')

/** Lists the deployment files that can be added: docker, github and so on. */
export async function listParts(): Promise<readonly string[]> {
  const entries = await readdir(partsFolder, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort()
}

/** Adds parts to a folder, with its name, variables and cronjobs. */
export async function addParts(folder: string, parts: readonly string[]): Promise<CopyResult> {
  const name = packageName(folder)
  const isProject = existsSync(path.join(folder, 'waypost.yml'))
  const definition = parts.length > 0 && isProject ? await readDefinition(folder) : undefined
  const fill = (target: string, text: string) =>
    fillDefinition(target, chooseLines(text, isProject), definition).replaceAll(placeholder, name)
  const files: string[] = []
  const left: string[] = []
  for (const part of new Set(parts)) {
    const copied = await copyFiles({ source: path.join(partsFolder, part), folder, fill })
    files.push(...copied.files)
    left.push(...copied.left)
  }
  return { files, left }
}

function chooseLines(text: string, isProject: boolean): string {
  return text.replaceAll(projectLines, isProject ? '$1' : '').replaceAll(serverLines, isProject ? '' : '$1')
}

/** Returns undefined if the project has too many errors to be read. */
async function readDefinition(folder: string): Promise<Definition | undefined> {
  const { definition, partial } = await loadProject(findProject(folder))
  return definition ?? partial
}

function fillDefinition(target: string, text: string, definition: Definition | undefined): string {
  const scopes = Object.keys(definition?.scopes ?? {}).filter((scope) => !scope.startsWith('backend.'))
  const scoped = text.replaceAll(scopesFlag, scopes.length === 0 ? '' : ` --scopes ${scopes.join(',')}`)
  if (definition === undefined) return scoped.replaceAll(variablesMark, '')
  const hasCronjobs = Object.keys({ ...definition.cronjobs, ...definition.listeners }).length > 0
  return scoped
    .replaceAll(variablesLines, (_, indent: string) => listVariables(definition, { target, indent }))
    .replaceAll(cronjobsLines, (all, indent: string, line: string) => (hasCronjobs ? `${indent}${line}\n` : all))
}

function listVariables({ variables }: Definition, { target, indent }: { target: string; indent: string }): string {
  const lines = Object.entries(variables).map(([name, { optional, declared }]) => {
    const description = declared?.description?.replaceAll(/\s+/g, ' ') ?? (optional ? 'has a default' : '')
    if (indent === '') return `#   ${name.padEnd(18)}  ${description}`.trimEnd()
    if (target === 'compose.yml') return `${indent}${name}: \${${name}:${optional ? '-' : '?set it in .env'}}`
    if (declared?.secret === true) return `${indent}# ${name} is a secret`
    return `${indent}# ${name}: ''${description === '' ? '' : ` # ${description}`}`
  })
  return lines.map((line) => `${line}\n`).join('')
}

/** Whether the `package.json` of a folder depends on Waypost: it is a project or the folder of a server. */
export function usesWaypost(folder: string): boolean {
  if (existsSync(path.join(folder, 'waypost.yml'))) return true
  try {
    const { dependencies } = readJsonFile(path.join(folder, 'package.json')) as {
      dependencies?: Record<string, unknown>
    }
    return dependencies?.['waypost'] !== undefined
  } catch {
    return false
  }
}
