import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeProject } from '../test/support/project.ts'
import { scaled } from './scale.ts'

/** A project in a temporary folder, removed when disposed. */
export interface BenchProject extends AsyncDisposable {
  readonly folder: string
}

/** The to-do project as `init` creates it. */
export async function makeDemo(): Promise<BenchProject> {
  const { folder, remove } = await makeProject()
  return { folder, [Symbol.asyncDispose]: remove }
}

export const bigRoutes = scaled(1000, 30)
export const bigActions = scaled(200, 10)

/** The to-do project with many more routes, each in its own file, five sharing an action. */
export async function makeBigProject(): Promise<BenchProject> {
  const project = await makeDemo()
  await addRoutes(project.folder, { routes: bigRoutes - 2, actions: bigActions - 5 }) // the demo has 2 and 5
  return project
}

async function addRoutes(
  folder: string,
  { routes, actions }: { readonly routes: number; readonly actions: number },
): Promise<void> {
  await mkdir(path.join(folder, 'resources/routes/many'), { recursive: true })
  await mkdir(path.join(folder, 'src/many'), { recursive: true })
  const actionOf = (index: number) => `src/many/action-${index % actions}.ts`
  for (let index = 0; index < actions; index++) {
    await writeFile(
      path.join(folder, actionOf(index)),
      `export default class Many${index} {\n  async handle() {\n    return { success: true, message: 'many ${index}' }\n  }\n}\n`,
    )
  }
  const lines: string[] = []
  for (let index = 0; index < routes; index++) {
    await writeFile(
      path.join(folder, `resources/routes/many/route-${index}.yml`),
      `path:\n  id: { type: integer }\nmethods:\n  GET:\n    public: true\n    response: Message\n    action: ${actionOf(index)}\n`,
    )
    lines.push(`  /many/${index}/:id: !include resources/routes/many/route-${index}.yml`)
  }
  const file = path.join(folder, 'waypost.yml')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('routes:\n', `routes:\n${lines.join('\n')}\n`))
}

export const sharingActions = scaled(2000, 20)
export const sharedFile = 'src/shared.ts'

/** The to-do project with many more actions, each at a path of its own, that import the same file. */
export async function makeSharingProject(): Promise<BenchProject> {
  const project = await makeDemo()
  await mkdir(path.join(project.folder, 'src/sharing'), { recursive: true })
  await writeFile(path.join(project.folder, sharedFile), 'export const edit = 0\n')
  const lines: string[] = []
  for (let index = 0; index < sharingActions; index++) {
    await writeFile(
      path.join(project.folder, `src/sharing/action-${index}.ts`),
      `import { edit } from '../shared.ts'\nexport default class Sharing${index} {\n  handle() {\n    return { edit }\n  }\n}\n`,
    )
    lines.push(
      `  /sharing/${index}: { methods: { GET: { public: true, action: src/sharing/action-${index}.ts, response: { properties: { edit: { type: integer } } } } } }`,
    )
  }
  const file = path.join(project.folder, 'waypost.yml')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('routes:\n', `routes:\n${lines.join('\n')}\n`))
  return project
}
