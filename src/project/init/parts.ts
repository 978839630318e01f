import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import type { Definition } from '../../definition/index.ts'
import { installation } from '../../kit/index.ts'
import { findProject } from '../find-project.ts'
import { loadProject } from '../load-project.ts'
import { copyFiles, type Copied } from './copy-files.ts'
import { packageName } from './fill-package.ts'

/** What files of parts call the project that they are for. */
const placeholder = /\bmy-api\b/g
/** Lines of a part that are for the folder of a project, and not for that of a server. */
const ofProject = /^ *# <project>\n([^]*?)^ *# <\/project>\n/gm

/** Lines that make way for the variables of the project. */
const ofVariables = /^( *)# <variables>\n[^]*?^ *# <\/variables>\n/gm
const variablesMark = /^ *# <\/?variables>\n/gm
/** What a project with cronjobs has instead; a `command` below it makes way too. */
const ofCronjobs = /^( *)# With cronjobs: (.*)\n(?:\1command: .*\n)?/gm

export const partsFolder: string = path.join(installation, 'templates', 'with')

/** What can surround a project or the folder of a server: docker, github and so on. */
export async function listParts(): Promise<readonly string[]> {
  const entries = await readdir(partsFolder, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort()
}

/** Adds the files of parts to a folder, with its name, its variables and its cronjobs in them. */
export async function addParts(folder: string, parts: readonly string[]): Promise<Copied> {
  const name = packageName(folder)
  const isProject = existsSync(path.join(folder, 'waypost.yml'))
  const definition = parts.length > 0 && isProject ? await readDefinition(folder) : undefined
  const fill = (target: string, text: string) =>
    fillDefinition(target, text.replaceAll(ofProject, isProject ? '$1' : ''), definition).replaceAll(placeholder, name)
  const files: string[] = []
  const left: string[] = []
  for (const part of new Set(parts)) {
    const copied = await copyFiles({ source: path.join(partsFolder, part), folder, fill })
    files.push(...copied.files)
    left.push(...copied.left)
  }
  return { files, left }
}

/** Undefined where a project has so many errors that nothing of it is known. */
async function readDefinition(folder: string): Promise<Definition | undefined> {
  const { definition, partial } = await loadProject(findProject(folder))
  return definition ?? partial
}

function fillDefinition(target: string, text: string, definition: Definition | undefined): string {
  if (definition === undefined) return text.replaceAll(variablesMark, '')
  const hasCronjobs = Object.keys(definition.cronjobs).length > 0
  return text
    .replaceAll(ofVariables, (_, indent: string) => listVariables(definition, { target, indent }))
    .replaceAll(ofCronjobs, (all, indent: string, line: string) => (hasCronjobs ? `${indent}${line}\n` : all))
}

function listVariables({ variables }: Definition, { target, indent }: { target: string; indent: string }): string {
  const lines = Object.entries(variables).map(([name, { optional, declared }]) => {
    const about = declared?.description?.replaceAll(/\s+/g, ' ') ?? (optional ? 'has a default' : '')
    if (indent === '') return `#   ${name.padEnd(18)}  ${about}`.trimEnd()
    if (target === 'compose.yml') return `${indent}${name}: \${${name}:${optional ? '-' : '?set it in .env'}}`
    if (declared?.secret === true) return `${indent}# ${name} is a secret`
    return `${indent}# ${name}: ''${about === '' ? '' : ` # ${about}`}`
  })
  return lines.map((line) => `${line}\n`).join('')
}

/** Whether a folder is a project, or the folder of a server: its `package.json` names Waypost. */
export function hasWaypost(folder: string): boolean {
  if (existsSync(path.join(folder, 'waypost.yml'))) return true
  try {
    const { dependencies } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, unknown>
    }
    return dependencies?.['waypost'] !== undefined
  } catch {
    return false
  }
}
