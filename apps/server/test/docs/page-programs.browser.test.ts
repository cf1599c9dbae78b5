import { describePrograms } from './page-programs.ts'

describePrograms('curl', 'TypeScript', 'Python')
