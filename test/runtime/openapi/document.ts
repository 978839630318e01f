import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { makeManifest } from '../../../src/build/make-manifest.ts'
import { loadDefinition } from '../../../src/definition/index.ts'
import type { Manifest } from '../../../src/release/index.ts'
import { makeOpenApi, type OpenApiOptions } from '../../../src/runtime/index.ts'
import { checkout } from '../../support/cli.ts'
import { writeFiles, type Files } from '../../support/project-server.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tests read any property
export type Document = any

/** The manifest of a project's files, without building code. */
export async function loadManifest(files: Files): Promise<Manifest> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-openapi-'))
  try {
    await writeFiles(folder, files)
    const { definition, diagnostics } = await loadDefinition(folder)
    const errors = diagnostics.filter(({ severity }) => severity === 'error')
    assert.deepEqual(
      errors.map(({ message, range }) => `${range.start.line} ${message}`),
      [],
    )
    const nothing = { migrations: [], plugins: [], artifacts: [], hashOf: () => 'a'.repeat(64) }
    return makeManifest(definition!, { version: '1.0.0', ...nothing })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The document of a project with one file, parsed from JSON. */
export async function describeYaml(yaml: string, options?: OpenApiOptions): Promise<Document> {
  const manifest = await loadManifest({ 'waypost.yml': yaml, 'a.ts': '' })
  return JSON.parse(JSON.stringify(makeOpenApi(manifest, options)))
}

/** Problems that Redocly's recommended rules find in documents; none if empty. */
export async function lintDocuments(documents: Readonly<Record<string, unknown>>): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-lint-'))
  try {
    await writeFiles(
      folder,
      mapValues(documents, (document) => JSON.stringify(document)),
    )
    await writeFile(path.join(folder, 'redocly.yaml'), 'extends: [recommended]\n')
    return await lintFiles(folder, Object.keys(documents))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** In one process, which takes a second to start. */
async function lintFiles(folder: string, names: readonly string[]): Promise<string[]> {
  const cli = path.join(checkout, 'node_modules/@redocly/cli/bin/cli.js')
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const text = await new Promise<string>((resolve) => {
    execFile(
      process.execPath,
      [cli, 'lint', '--format=json', ...names],
      { cwd: folder, env },
      (_error, stdout, stderr) => resolve(stdout || stderr),
    )
  })
  // A report of each file, one after the other.
  const reports = text
    .split(/(?<=^\})\s*(?=\{)/m)
    .map((report) => JSON.parse(report) as { problems: readonly Problem[] })
  assert.equal(reports.length, names.length)
  return reports.flatMap(({ problems }, index) =>
    problems.map(
      ({ severity, ruleId, message, location: [at] }) =>
        `${at?.source?.ref ?? names[index]} ${severity} ${ruleId} ${at?.pointer}: ${message}`,
    ),
  )
}

interface Problem {
  readonly severity: string
  readonly ruleId: string
  readonly message: string
  readonly location: readonly { readonly source?: { readonly ref?: string }; readonly pointer?: string }[]
}

function mapValues(values: Readonly<Record<string, unknown>>, map: (value: unknown) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
}
