import type { Language } from './call.ts'
import { curl } from './curl.ts'
import { go } from './go.ts'
import { java } from './java.ts'
import { python } from './python.ts'
import { typescript } from './typescript.ts'

/** In the order of the tabs. */
export const languages: readonly [Language, ...Language[]] = [curl, typescript, python, go, java]
