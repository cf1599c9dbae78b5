@echo off
rem Starts {program} {version} with the Node.js beside it, from any folder.
setlocal
if /i "%PROCESSOR_ARCHITECTURE%%PROCESSOR_ARCHITEW6432%"=="x86" goto refuse
set "PLANT_STORE_STARTED_AS=%~0"
"%~dp0lib\node\node.exe" "%~dp0lib\{folder}\main.js" %*
exit /b %ERRORLEVEL%
:refuse
echo {program}: this is the program for {platform}, and this Windows has 32 bits. Try: a Windows of 64 bits 1>&2
exit /b 78
