import { problemTexts } from '../components/problem-texts.ts'

/**
 * Finds the reason why files could not be sent: browsers report a file that has changed since it was chosen as an error of the
 * network.
 * @returns undefined if all can be read
 */
export async function findChangedFile(body: unknown): Promise<string | undefined> {
  const files = body instanceof FormData ? [...body.values()] : [body]
  for (const file of files)
    if (file instanceof File && !(await canRead(file))) return problemTexts.fileChanged(file.name)
  return undefined
}

async function canRead(file: File): Promise<boolean> {
  return file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    )
}
